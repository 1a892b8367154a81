#include "kernels/cpu/reference/reference_gather.h"

namespace hostir::cpu {

void reference_slice(const ReferenceCall& call) {
  const ExprList& starts = *call.instruction.attributes.get<ExprList>("start");
  const IntList* strides = call.instruction.attributes.get<IntList>("stride");
  gather(call, 0, call.out[0]->box, [&](const auto& index, auto& source) {
    for (size_t d = 0; d < index.size(); ++d) {
      source[d] = starts[d].value() + index[d] * (strides ? (*strides)[d] : 1);
    }
  });
}

}  // namespace hostir::cpu
