// What is alive on the focus rank, as gdb's `info locals` lists the variables of a frame.
#pragma once

#include <string>

#include "interp/session/session.h"

namespace hostir::interp {

/// One line per integer of the function that the rank is in, then one per tensor that it holds,
/// with its type and the range of its values.
std::string locals_text(Session& session);

}  // namespace hostir::interp
