// Back to the same place in a run that was started anew, after an edit or a change of the file.
#pragma once

#include <string>
#include <vector>

#include "interp/session/snapshot.h"

namespace hostir::gui {

/// Commands for a fresh session of the same ranks: every rank executes as many host instructions as
/// it has in `shot`, breakpoints do not stop it on the way, and the scope of steps is restored.
/// Where the program became shorter it ends where it ends.
std::vector<std::string> commands_back_to(const interp::Snapshot& shot);

/// Commands that step one rank now, whatever steps move, and leave focus and scope as they are.
std::vector<std::string> step_of(const interp::Snapshot& shot, interp::Rank rank);

}  // namespace hostir::gui
