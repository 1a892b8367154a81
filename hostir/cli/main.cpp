#if defined(HOSTIR_HAS_MIMALLOC)
#include <mimalloc.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#elif __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include "hostir/cli/command_line.h"
#include "hostir/support/temporary_file.h"

#if defined(HOSTIR_HAS_MIMALLOC)
namespace {

// Large pages where the kernel has them: first touches of small ones are a tenth of the time of
// lowering. The option does not change the segment that mimalloc made before main(), which most
// lowerings fill, so the kernel is asked directly. It is only advice: any range of our own will do.
void use_large_pages() {
  mi_option_enable(mi_option_large_os_pages);
#if defined(MADV_HUGEPAGE)
  constexpr std::size_t kSegmentBytes = std::size_t{32} << 20;
  const auto any = std::make_unique<char>();
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(any.get()) % kSegmentBytes;
  madvise(any.get() - offset, kSegmentBytes, MADV_HUGEPAGE);
#endif
}

}  // namespace
#endif

int main(int argc, char** argv) {
#if defined(HOSTIR_HAS_MIMALLOC)
  use_large_pages();
#elif defined(M_MXFAST)
  // A program is many small objects and a few large arrays. With glibc's fast bins, each large free
  // first sorts the small objects freed before it: about 8 % of the time of lowering.
  mallopt(M_MXFAST, 0);
#endif
  hostir::delete_temporary_files_at_signals();
  return hostir::cli::run_command_line(argc, argv);
}
