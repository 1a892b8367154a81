#include <fmt/core.h>

#include "interp/core/engine/engine.h"

namespace hostir::interp {

bool execute_free(Engine& engine, Step& step);

// Later instructions may no longer use the storage; the memory is released when the stream gets
// there.
bool execute_free(Engine& engine, Step& step) {
  RankState& rank = step.rank_state;
  IssuePlan& plan = engine.operands.plan(step);
  if (!engine.operands.bind_buffers(step, plan)) return false;
  Allocation& a = *plan.buffers[0].bound;
  const uint32_t slot = rank.registers[step.code.operands[0]].slot;
  if (a.parameter) {
    return engine.faults.fault(
        step, "double_free",
        fmt::format("rank {}: {} frees parameter {}, which the caller owns", step.rank,
                    engine.faults.name_of(step), engine.run.code->register_name(a.reg)));
  }
  BufferRef& ref = plan.refs[0];
  ref.access = Access::kReadWrite;
  ref.offset_bytes = 0;
  ref.size_bytes = a.bytes;
  TaskRecord& task = engine.tasks.begin_task(step, step.code.stream);
  task.alloc_bytes = -a.bytes;
  if (engine.run.checks_all() && a.bytes > 0) {
    const AccessRecord access{
        0, a.bytes, 0, step.code.stream, task.sequence, step.index, AccessRecord::Kind::kWrite};
    if (!engine.races.note_access(step, a, step.code.operands[0], access)) return false;
  }
  step.bytes = a.bytes;
  if (!engine.tasks.issue(step, task, plan.refs, {})) return false;
  engine.tasks.set_event(step, 0);
  a.live = false;
  a.freed_by = step.index;
  rank.free_slots.push(slot);
  return true;
}

}  // namespace hostir::interp
