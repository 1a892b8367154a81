#include "kernels/cpu/reference/reference_indices.h"

namespace hostir::cpu {

void reference_roll(const ReferenceCall& call) {
  const Extents& global = call.out[0]->global;
  const size_t dim = dim_attribute(call, global.size());
  const int64_t shift = call.instruction.attributes.get<IndexExpr>("shift")->value();
  gather(call, 0, call.out[0]->box, [&](const auto& index, auto& source) {
    source = index;
    source[dim] = ((index[dim] - shift) % global[dim] + global[dim]) % global[dim];
  });
}

}  // namespace hostir::cpu
