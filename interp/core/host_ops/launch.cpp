#include "interp/core/engine.h"

namespace hostir::interp {

bool execute_launch(Engine& engine, Step& step);

bool execute_launch(Engine& engine, Step& step) {
  IssuePlan& plan = engine.plan(step);
  if (!engine.bind_buffers(step, plan)) return false;
  TaskRecord& task = engine.begin_task(step, step.code.stream);
  if (!engine.note_accesses(step, plan)) return false;
  engine.issue(step, task, plan.refs, {});
  engine.set_event(step, 0);
  return true;
}

}  // namespace hostir::interp
