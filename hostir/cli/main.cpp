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

// Asks for large pages: the page faults of small ones take a tenth of lowering's time. mimalloc's
// option comes too late for the segment that it made before main(), and most lowerings fit into
// that one, so madvise() asks for it. That is only advice, and harmless if it is another segment.
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
