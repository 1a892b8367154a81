#include "kernels/cpu/reference/reference_gather.h"

namespace hostir::cpu {

void reference_broadcast_in_dim(const ReferenceCall& call) {
  const IntList& dims = *call.instruction.attributes.get<IntList>("dims");
  const Extents& operand = call.in[0]->global;
  gather(call, 0, call.out[0]->box, [&](const auto& index, auto& source) {
    for (size_t d = 0; d < source.size(); ++d) {
      source[d] = operand[d] == 1 ? 0 : index[static_cast<size_t>(dims[d])];
    }
  });
}

}  // namespace hostir::cpu
