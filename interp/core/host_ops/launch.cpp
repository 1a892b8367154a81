#include "interp/core/engine.h"

namespace hostir::interp {

bool execute_launch(Engine& engine, Step& step);

bool execute_launch(Engine& engine, Step& step) {
  IssuePlan& plan = engine.plan(step);
  if (!engine.bind_buffers(step, plan) || !engine.check_launch_overlap(step, plan)) return false;
  TaskRecord& task = engine.begin_task(step, step.code.stream);
  if (!engine.note_accesses(step, plan)) return false;
  if (!engine.issue(step, task, plan.refs, {})) return false;
  engine.set_event(step, 0);
  return true;
}

}  // namespace hostir::interp
