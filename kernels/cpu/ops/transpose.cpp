#include "kernels/cpu/reference/reference_gather.h"

namespace hostir::cpu {

void reference_transpose(const ReferenceCall& call) {
  const IntList& permutation = *call.instruction.attributes.get<IntList>("permutation");
  gather(call, 0, call.out[0]->box, [&](const auto& index, auto& source) {
    for (size_t d = 0; d < index.size(); ++d) {
      source[static_cast<size_t>(permutation[d])] = index[d];
    }
  });
}

}  // namespace hostir::cpu
