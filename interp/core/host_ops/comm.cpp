#include "interp/core/engine/engine.h"

namespace hostir::interp {

bool execute_comm(Engine& engine, Step& step);

// compile_code() creates communicators; the instruction only keeps its place in the order.
bool execute_comm(Engine&, Step&) { return true; }

}  // namespace hostir::interp
