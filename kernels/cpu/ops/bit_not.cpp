#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

void reference_bit_not(const ReferenceCall& call) {
  map_unary(call, nullptr, [](int64_t x) { return ~x; });
}

}  // namespace hostir::cpu
