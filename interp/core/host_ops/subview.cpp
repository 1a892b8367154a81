#include <fmt/format.h>

#include "hostir/support/lists.h"
#include "interp/core/engine/engine.h"

namespace hostir::interp {

bool execute_subview(Engine& engine, Step& step);

bool execute_subview(Engine& engine, Step& step) {
  RankState& rank = step.rank_state;
  if (engine.operands.open(step, 0) == nullptr) return false;
  const Register& from = rank.registers[step.code.operands[0]];
  const LayoutIndex layout = step.code.layouts[0];
  const bool fixed = layout != kNoLayout && engine.run.code->layouts[layout].is_static();
  const Placement& whole =
      fixed ? engine.run.code->layouts[layout].by_rank[static_cast<size_t>(step.rank)]
            : *from.placement;
  const Extents local = whole.local();
  Extents strides(local.size(), 1);
  for (size_t d = local.size(); d-- > 1;) strides[d - 1] = strides[d] * local[d];
  if (from.shape != 0) strides = engine.run.shapes[from.shape].strides_elems;
  Register view;
  view.placement = engine.operands.placement(step, step.code.result_layout);
  if (view.placement == nullptr) return false;
  const Extents wanted = view.placement->local();
  Extents extents;
  int64_t offset = 0;
  for (size_t d = 0; d < local.size() && d < step.code.exprs.size(); ++d) {
    int64_t start = 0;
    int64_t limit = local[d];
    if (!engine.operands.evaluate(step, step.code.exprs[d], start)) return false;
    const IndexCodeId end = d < step.code.more_exprs.size() ? step.code.more_exprs[d] : kNoExpr;
    if (end != kNoExpr && !engine.operands.evaluate(step, end, limit)) return false;
    if (start < 0 || start > limit || limit > local[d]) {
      return engine.faults.fault(
          step, "out_of_bounds",
          fmt::format("rank {}: {} takes {}:{} of dimension {}, which has {}", step.rank,
                      engine.faults.name_of(step), start, limit, d, local[d]));
    }
    extents.push_back(limit - start);
    offset += start * strides[d];
  }
  if (extents != wanted) {
    return engine.faults.fault(
        step, "out_of_bounds",
        fmt::format("rank {}: {} takes [{}], but its type is [{}]", step.rank,
                    engine.faults.name_of(step), fmt::join(extents, "x"), fmt::join(wanted, "x")));
  }
  // An empty view starts where its buffer does: the place of its rows may be past the end.
  if (contains(extents, 0)) offset = 0;
  const int64_t element = size_bytes(whole.dtype);
  view.value = from.value;
  view.slot = from.slot;
  view.generation = from.generation;
  view.offset_bytes = from.offset_bytes + offset * element;
  view.shape = engine.run.shapes.of_view(extents, strides, element);
  rank.registers[step.code.results[0]] = view;
  return true;
}

}  // namespace hostir::interp
