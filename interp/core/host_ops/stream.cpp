#include "interp/core/engine.h"

namespace hostir::interp {

bool execute_stream(Engine& engine, Step& step);

// Streams are made by compile_code(); the instruction only takes its place in the order.
bool execute_stream(Engine&, Step&) { return true; }

}  // namespace hostir::interp
