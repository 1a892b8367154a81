#include "kernels/common/views.h"

#include <algorithm>
#include <iterator>

#include "kernels/common/elements.h"
#include "kernels/common/views/view_op.h"

namespace hostir::kernels {
namespace {

struct Mover {
  OpKind kind;
  MoveFn view;
};
constexpr Mover kMovers[] = {
#define HOSTIR_VIEW_OP(op) {OpKind::op, view_##op},
#include "kernels/common/view_ops.inc"
#undef HOSTIR_VIEW_OP
};

bool stays_inside(const StridedView& view, const Extents& extents, int64_t memory_elems) {
  int64_t lowest = view.offset;
  int64_t highest = view.offset;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] <= 0) return true;
    const int64_t reach = (extents[d] - 1) * view.strides[d];
    (reach < 0 ? lowest : highest) += reach;
  }
  return lowest >= 0 && highest < memory_elems;
}

const Sharding* sharding_of_value(const Function* function, ValueId id) {
  return function != nullptr && id.valid() ? sharding_of(function->value(id).type) : nullptr;
}

}  // namespace

std::optional<Reduction> becomes_partial(const Function* function, const Instruction& reshard) {
  const Sharding* result = sharding_of_value(function, reshard.results[0]);
  const Sharding* operand = sharding_of_value(function, reshard.operands[0].value);
  if (!result || !result->is_partial()) return std::nullopt;
  if (operand && operand->unreduced == result->unreduced) return std::nullopt;
  return result->unreduced_kind;
}

StridedView dense_view(uint32_t value, const Placement& placement) {
  return {value, 0, strides_of(placement.local())};
}

bool is_dense(const StridedView& view, const Extents& extents) {
  const Extents dense = strides_of(extents);
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] != 1 && view.strides[d] != dense[d]) return false;
  }
  return true;
}

std::optional<StridedView> sub_view(const StridedView& view, const Box& from, const Box& to) {
  if (from.lo.size() != to.lo.size() || !from.contains(to)) return std::nullopt;
  StridedView result = view;
  for (size_t d = 0; d < to.lo.size(); ++d) {
    result.offset += (to.lo[d] - from.lo[d]) * view.strides[d];
  }
  return result;
}

std::optional<StridedView> moved_view(const BoundKernel& kernel, const Instruction& instruction,
                                      const StridedView& operand, int64_t memory_elems) {
  const auto mover = std::find_if(std::begin(kMovers), std::end(kMovers),
                                  [&](const Mover& m) { return m.kind == instruction.kind; });
  if (mover == std::end(kMovers)) return std::nullopt;
  const Placement& in = kernel.values[instruction.operands[0].value.index];
  const Placement& out = kernel.values[instruction.results[0].index];
  auto view = mover->view({kernel, instruction, in, out, operand});
  return view && stays_inside(*view, out.local(), memory_elems) ? view : std::nullopt;
}

}  // namespace hostir::kernels
