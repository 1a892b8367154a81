#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

void reference_bit_xor(const ReferenceCall& call) {
  map_binary(call, nullptr, [](int64_t a, int64_t b) { return a ^ b; });
}

}  // namespace hostir::cpu
