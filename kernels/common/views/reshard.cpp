#include "kernels/common/views/view_op.h"

namespace hostir::kernels {

std::optional<StridedView> view_reshard(const Move& move) {
  if (move.kernel.holds_identity(move.instruction.results.front())) return std::nullopt;
  return sub_view(move.view, move.in.box, move.out.box);
}

}  // namespace hostir::kernels
