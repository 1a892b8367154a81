#include <cmath>

#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

void reference_rsqrt(const ReferenceCall& call) {
  map_unary(call, [](double x) { return 1.0 / std::sqrt(x); });
}

}  // namespace hostir::cpu
