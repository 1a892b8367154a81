// Returns to the same place in a restarted run, after an edit or a change of the file.
#pragma once

#include <string>
#include <vector>

#include "interp/session/snapshots/snapshot.h"

namespace hostir::gui {

/// Commands for a fresh session with the same ranks: every rank executes as many host instructions
/// as it has in `shot`, breakpoints do not stop it on the way, and the scope of steps is restored.
/// If the program became shorter, the rank stops at its end.
std::vector<std::string> commands_back_to(const interp::Snapshot& shot);

/// Commands that step only this rank, regardless of the scope of steps, and leave focus and scope
/// unchanged.
std::vector<std::string> step_of(const interp::Snapshot& shot, interp::Rank rank);

}  // namespace hostir::gui
