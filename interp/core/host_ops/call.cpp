#include "interp/core/engine/engine.h"

namespace hostir::interp {

bool execute_call(Engine& engine, Step& step);

// The body is inlined after the call; arguments are new names for the same buffers.
bool execute_call(Engine& engine, Step& step) {
  engine.operands.move_registers(step.rank_state, step.code.moves);
  return true;
}

}  // namespace hostir::interp
