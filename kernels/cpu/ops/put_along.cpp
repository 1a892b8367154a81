#include "kernels/cpu/reference/reference_indices.h"

namespace hostir::cpu {

void reference_put_along(const ReferenceCall& call) {
  const size_t dim = dim_attribute(call, call.out[0]->global.size());
  const IndexOperand indices(*call.in[1], call.in_data[1]);
  put_elements(call, put_adds(call), [&](const auto& index, auto& target) {
    target = index;
    target[dim] = indices(index);
  });
}

}  // namespace hostir::cpu
