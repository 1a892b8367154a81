#include "interp/core/engine/engine.h"

namespace hostir::interp {

bool execute_yield(Engine& engine, Step& step);

bool execute_yield(Engine& engine, Step& step) {
  engine.operands.move_registers(step.rank_state, step.code.moves);
  return true;
}

}  // namespace hostir::interp
