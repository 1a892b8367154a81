#include <cstring>

#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

void reference_select(const ReferenceCall& call) {
  const Placement& out = *call.out[0];
  const AlignedOperand condition(*call.in[0], call.in_data[0], out.box);
  const AlignedOperand on_true(*call.in[1], call.in_data[1], out.box);
  const AlignedOperand on_false(*call.in[2], call.in_data[2], out.box);
  const auto element = static_cast<size_t>(size_bytes(out.dtype));
  const auto elems = static_cast<size_t>(out.box.volume());
  for (size_t i = 0; i < elems; ++i) {
    const std::byte* chosen =
        condition.data()[i] != std::byte{0} ? on_true.data() : on_false.data();
    std::memmove(call.out_data[0].data + i * element, chosen + i * element, element);
  }
}

}  // namespace hostir::cpu
