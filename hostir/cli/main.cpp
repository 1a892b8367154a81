#if defined(HOSTIR_HAS_MIMALLOC)
#include <mimalloc.h>
#elif __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include "hostir/cli/command_line.h"
#include "hostir/support/temporary_file.h"

int main(int argc, char** argv) {
#if defined(HOSTIR_HAS_MIMALLOC)
  // Large pages where the kernel has them: first touches of small ones are a tenth of the time of
  // lowering.
  mi_option_enable(mi_option_large_os_pages);
#elif defined(M_MXFAST)
  // A program is many small objects and a few large arrays. With glibc's fast bins, each large free
  // first sorts the small objects freed before it: about 8 % of the time of lowering.
  mallopt(M_MXFAST, 0);
#endif
  hostir::delete_temporary_files_at_signals();
  return hostir::cli::run_command_line(argc, argv);
}
