#include <cmath>

#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

void reference_abs(const ReferenceCall& call) {
  map_unary(
      call, [](double x) { return std::fabs(x); },
      [](int64_t x) { return x < 0 ? wrap_sub(0, x) : x; });
}

}  // namespace hostir::cpu
