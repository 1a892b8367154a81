#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

// NaN and both zeros are unchanged.
void reference_sign(const ReferenceCall& call) {
  map_unary(
      call, [](double x) { return x > 0 ? 1.0 : (x < 0 ? -1.0 : x); },
      [](int64_t x) { return int64_t{x > 0} - int64_t{x < 0}; });
}

}  // namespace hostir::cpu
