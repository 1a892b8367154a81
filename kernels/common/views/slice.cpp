#include "kernels/common/views/view_op.h"

namespace hostir::kernels {

std::optional<StridedView> view_slice(const Move& move) {
  const ExprList* start = move.instruction.attributes.get<ExprList>("start");
  const IntList* stride = move.instruction.attributes.get<IntList>("stride");
  if (start == nullptr) return std::nullopt;
  StridedView result = move.view;
  for (size_t d = 0; d < start->size(); ++d) {
    const int64_t step = stride ? (*stride)[d] : 1;
    const int64_t at = (*start)[d].value() + move.out.box.lo[d] * step - move.in.box.lo[d];
    result.offset += at * move.view.strides[d];
    result.strides[d] *= step;
  }
  return result;
}

}  // namespace hostir::kernels
