#include "interp/core/engine/engine.h"

namespace hostir::interp {

bool execute_stream(Engine& engine, Step& step);

// compile_code() creates streams; the instruction only keeps its place in the order.
bool execute_stream(Engine&, Step&) { return true; }

}  // namespace hostir::interp
