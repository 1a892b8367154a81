#include <cstring>

#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

// With `bits`, elements are copied as they are. Float to integer truncates and saturates (NaN
// becomes 0); integers wrap; to i1 is `!= 0`.
void reference_cast(const ReferenceCall& call) {
  if (call.instruction.attributes.get_or<bool>("bits", false)) {
    const Placement& out = *call.out[0];
    const AlignedOperand operand(*call.in[0], call.in_data[0], out.box);
    const auto bytes = static_cast<size_t>(out.box.volume() * size_bytes(out.dtype));
    if (bytes != 0) std::memcpy(call.out_data[0].data, operand.data(), bytes);
    return;
  }
  map_unary(
      call, [](double x) { return x; }, [](int64_t x) { return x; });
}

}  // namespace hostir::cpu
