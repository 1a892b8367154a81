#include "kernels/cpu/reference/reference_indices.h"

namespace hostir::cpu {

// A position outside x, or outside this rank's part of x, gives 0: gather() leaves it unset.
void reference_take(const ReferenceCall& call) {
  const size_t dim = dim_attribute(call, call.in[0]->global.size());
  const size_t count = call.in[1]->global.size();
  const IndexOperand indices(*call.in[1], call.in_data[1]);
  gather(call, 0, call.out[0]->box, [&](const auto& index, auto& source) {
    for (size_t d = 0; d < dim; ++d) source[d] = index[d];
    source[dim] = indices(std::span(index).subspan(dim, count));
    for (size_t d = dim + 1; d < source.size(); ++d) source[d] = index[d + count - 1];
  });
}

}  // namespace hostir::cpu
