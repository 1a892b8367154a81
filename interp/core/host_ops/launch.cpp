#include "interp/core/engine/engine.h"

namespace hostir::interp {

bool execute_launch(Engine& engine, Step& step);

bool execute_launch(Engine& engine, Step& step) {
  IssuePlan& plan = engine.operands.plan(step);
  if (!engine.operands.bind_buffers(step, plan) || !engine.races.check_launch_overlap(step, plan))
    return false;
  TaskRecord& task = engine.tasks.begin_task(step, step.code.stream);
  if (!engine.buffers.note_accesses(step, plan)) return false;
  if (!engine.tasks.issue(step, task, plan.refs, {})) return false;
  engine.tasks.set_event(step, 0);
  return true;
}

}  // namespace hostir::interp
