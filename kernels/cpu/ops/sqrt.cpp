#include <cmath>

#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

void reference_sqrt(const ReferenceCall& call) {
  map_unary(call, [](double x) { return std::sqrt(x); });
}

}  // namespace hostir::cpu
