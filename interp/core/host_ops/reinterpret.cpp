#include <fmt/core.h>

#include "interp/core/engine.h"

namespace hostir::interp {

bool execute_reinterpret(Engine& engine, Step& step);

bool execute_reinterpret(Engine& engine, Step& step) {
  RankState& rank = step.rank_state;
  if (engine.open(step, 0) == nullptr) return false;
  Register view = rank.registers[step.code.operands[0]];
  if (view.shape != 0) {
    return engine.fault(
        step, "out_of_bounds",
        fmt::format("rank {}: {} of a strided view", step.rank, engine.name_of(step)));
  }
  const LayoutIndex layout = step.code.layouts[0];
  const bool fixed = layout != kNoLayout && engine.code->layouts[layout].is_static();
  const Placement& old = fixed
                             ? engine.code->layouts[layout].by_rank[static_cast<size_t>(step.rank)]
                             : *view.placement;
  const int64_t bytes = old.local_bytes();
  view.placement = engine.placement(step, step.code.result_layout);
  if (view.placement == nullptr) return false;
  if (view.placement->local_bytes() != bytes) {
    return engine.fault(step, "out_of_bounds",
                        fmt::format("rank {}: {} of {} bytes as {} bytes", step.rank,
                                    engine.name_of(step), bytes, view.placement->local_bytes()));
  }
  rank.registers[step.code.results[0]] = view;
  return true;
}

}  // namespace hostir::interp
