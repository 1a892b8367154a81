#include "kernels/cpu/portable_math.h"
#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

void reference_floor(const ReferenceCall& call) {
  map_unary(call, portable::floor, [](int64_t x) { return x; });
}

}  // namespace hostir::cpu
