#include "interp/core/engine.h"

namespace hostir::interp {

bool execute_yield(Engine& engine, Step& step);

bool execute_yield(Engine& engine, Step& step) {
  engine.move_registers(step.rank_state, step.code.moves);
  return true;
}

}  // namespace hostir::interp
