#include "kernels/cpu/reference/reference_indices.h"

namespace hostir::cpu {

void reference_put(const ReferenceCall& call) {
  const size_t dim = dim_attribute(call, call.out[0]->global.size());
  const size_t count = call.in[1]->global.size();
  const IndexOperand indices(*call.in[1], call.in_data[1]);
  put_elements(call, put_adds(call), [&](const auto& index, auto& target) {
    for (size_t d = 0; d < dim; ++d) target[d] = index[d];
    target[dim] = indices(std::span(index).subspan(dim, count));
    for (size_t d = dim + 1; d < target.size(); ++d) target[d] = index[d + count - 1];
  });
}

}  // namespace hostir::cpu
