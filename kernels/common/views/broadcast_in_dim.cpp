#include "kernels/common/views/view_op.h"

namespace hostir::kernels {

std::optional<StridedView> view_broadcast_in_dim(const Move& move) {
  const IntList* dims = move.instruction.attributes.get<IntList>("dims");
  if (dims == nullptr || dims->size() != move.in.global.size()) return std::nullopt;
  StridedView result{move.view.value, move.view.offset, Extents(move.out.global.size(), 0)};
  for (size_t d = 0; d < dims->size(); ++d) {
    const auto target = static_cast<size_t>((*dims)[d]);
    if (move.in.global[d] == 1) continue;
    result.strides[target] = move.view.strides[d];
    result.offset += (move.out.box.lo[target] - move.in.box.lo[d]) * move.view.strides[d];
  }
  return result;
}

}  // namespace hostir::kernels
