#include <fmt/core.h>

#include "interp/core/engine/engine.h"

namespace hostir::interp {

bool execute_read(Engine& engine, Step& step);

// One integer of the local part, after the writes that the host has waited for.
bool execute_read(Engine& engine, Step& step) {
  RankState& rank = step.rank_state;
  IssuePlan& plan = engine.operands.plan(step);
  plan.refs[0].access = Access::kRead;
  if (!engine.operands.bind_buffers(step, plan)) return false;
  const BufferRef& ref = plan.refs[0];
  const Extents local = ref.placement->local();
  Box element = ref.placement->box;
  for (size_t d = 0; d < local.size() && d < step.code.exprs.size(); ++d) {
    int64_t index = 0;
    if (!engine.operands.evaluate(step, step.code.exprs[d], index)) return false;
    if (index < 0 || index >= local[d]) {
      return engine.faults.fault(
          step, "out_of_bounds",
          fmt::format("rank {}: {} takes index {} of dimension {}, which has {}", step.rank,
                      engine.faults.name_of(step), index, d, local[d]));
    }
    element.lo[d] += index;
    element.hi[d] = element.lo[d] + 1;
  }
  if (!engine.buffers.check_host_read(step, ref)) return false;
  const Expected<Tensor> value = engine.run.backend.read(step.rank, ref, element);
  if (!value || value->element_count() != 1) {
    return engine.faults.fault(
        step, "backend",
        fmt::format("rank {}: {}: {}", step.rank, engine.faults.name_of(step),
                    value ? "no element" : value.error().message()));
  }
  rank.registers[step.code.results[0]].value = value->get_int(0);
  return true;
}

}  // namespace hostir::interp
