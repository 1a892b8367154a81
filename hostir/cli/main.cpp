#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include "hostir/cli/command_line.h"

int main(int argc, char** argv) {
#if defined(M_MXFAST)
  // Programs are many small objects beside large arrays. With glibc's fast bins, freeing an array
  // sorts all small objects freed before: about 8 % of the time of lowering.
  mallopt(M_MXFAST, 0);
#endif
  return hostir::cli::run_command_line(argc, argv);
}
