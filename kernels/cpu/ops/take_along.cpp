#include "kernels/cpu/reference/reference_indices.h"

namespace hostir::cpu {

void reference_take_along(const ReferenceCall& call) {
  const size_t dim = dim_attribute(call, call.in[0]->global.size());
  const IndexOperand indices(*call.in[1], call.in_data[1]);
  gather(call, 0, call.out[0]->box, [&](const auto& index, auto& source) {
    source = index;
    source[dim] = indices(index);
  });
}

}  // namespace hostir::cpu
