#include <fmt/core.h>

#include "interp/core/engine/engine.h"

namespace hostir::interp {

bool execute_reinterpret(Engine& engine, Step& step);

namespace {

// A rank outside the mesh of a view holds nothing of it.
bool is_in_mesh(const Engine& engine, const Step& step) {
  const Sharding* sharding = sharding_of(engine.run.code->layouts[step.code.result_layout].type);
  const Mesh* mesh =
      sharding == nullptr ? nullptr : engine.run.code->program->find_mesh(sharding->mesh);
  return mesh == nullptr || mesh->position_of(step.rank).has_value();
}

}  // namespace

bool execute_reinterpret(Engine& engine, Step& step) {
  RankState& rank = step.rank_state;
  if (engine.operands.open(step, 0) == nullptr) return false;
  Register view = rank.registers[step.code.operands[0]];
  if (view.shape != 0) {
    return engine.faults.fault(
        step, "out_of_bounds",
        fmt::format("rank {}: {} of a strided view; it needs contiguous bytes", step.rank,
                    engine.faults.name_of(step)));
  }
  const LayoutIndex layout = step.code.layouts[0];
  const bool fixed = layout != kNoLayout && engine.run.code->layouts[layout].is_static();
  const Placement& old =
      fixed ? engine.run.code->layouts[layout].by_rank[static_cast<size_t>(step.rank)]
            : *view.placement;
  const int64_t bytes = old.local_bytes();
  view.placement = engine.operands.placement(step, step.code.result_layout);
  if (view.placement == nullptr) return false;
  if (view.placement->local_bytes() != bytes && is_in_mesh(engine, step)) {
    return engine.faults.fault(
        step, "out_of_bounds",
        fmt::format("rank {}: {} of {} bytes as {} bytes; both types must have the same size",
                    step.rank, engine.faults.name_of(step), bytes, view.placement->local_bytes()));
  }
  rank.registers[step.code.results[0]] = view;
  return true;
}

}  // namespace hostir::interp
