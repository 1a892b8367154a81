#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include "hostir/cli/command_line.h"

int main(int argc, char** argv) {
#if defined(M_MXFAST)
  // A program is many small objects and a few large arrays. With glibc's fast bins, each large free
  // first sorts the small objects freed before it: about 8 % of the time of lowering.
  mallopt(M_MXFAST, 0);
#endif
  return hostir::cli::run_command_line(argc, argv);
}
