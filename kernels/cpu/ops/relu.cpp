#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

void reference_relu(const ReferenceCall& call) {
  map_unary(
      call, [](double x) { return x > 0 || x != x ? x : 0.0; },
      [](int64_t x) { return x > 0 ? x : int64_t{0}; });
}

}  // namespace hostir::cpu
