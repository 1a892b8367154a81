#include "kernels/common/views/view_op.h"

namespace hostir::kernels {

std::optional<StridedView> view_transpose(const Move& move) {
  const IntList* permutation = move.instruction.attributes.get<IntList>("permutation");
  if (permutation == nullptr) return std::nullopt;
  StridedView result = move.view;
  for (size_t d = 0; d < permutation->size(); ++d) {
    const auto source = static_cast<size_t>((*permutation)[d]);
    result.strides[d] = move.view.strides[source];
    result.offset += (move.out.box.lo[d] - move.in.box.lo[source]) * move.view.strides[source];
  }
  return result;
}

}  // namespace hostir::kernels
