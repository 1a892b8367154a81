#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

// Propagates NaN, as PyTorch and XLA do.
void reference_minimum(const ReferenceCall& call) {
  map_binary(
      call, [](double a, double b) { return a < b || a != a ? a : b; },
      [](int64_t a, int64_t b) { return a < b ? a : b; },
      [](uint64_t a, uint64_t b) { return a < b ? a : b; });
}

}  // namespace hostir::cpu
