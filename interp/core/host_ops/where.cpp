#include "interp/core/engine/engine.h"

namespace hostir::interp {

bool execute_where(Engine& engine, Step& step);

bool execute_where(Engine& engine, Step& step) {
  int64_t holds = 0;
  if (step.code.exprs.empty()) {
    holds = engine.run.code->rank_tables[step.code.membership][static_cast<size_t>(step.rank)];
  } else if (!engine.operands.evaluate(step, step.code.exprs[0], holds)) {
    return false;
  }
  if (holds == 0) step.next = step.code.jump;
  return true;
}

}  // namespace hostir::interp
