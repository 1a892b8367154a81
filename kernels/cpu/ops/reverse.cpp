#include "kernels/cpu/reference/reference_gather.h"

namespace hostir::cpu {

void reference_reverse(const ReferenceCall& call) {
  const IntList dims = call.instruction.attributes.get_or<IntList>("dims", {});
  const Extents& global = call.out[0]->global;
  gather(call, 0, call.out[0]->box, [&](const auto& index, auto& source) {
    source = index;
    for (const int64_t dim : dims) {
      const auto d = static_cast<size_t>(dim);
      source[d] = global[d] - 1 - index[d];
    }
  });
}

}  // namespace hostir::cpu
