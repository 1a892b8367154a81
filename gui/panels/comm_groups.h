// Display names for the groups of a communicator: mesh coordinates or ranks.
#pragma once

#include <string>

#include "interp/core/code.h"

namespace hostir::gui {

/// `{x=0, y=1}`: the coordinates shared by all members, if they identify the group; otherwise the
/// members, `r0..r3`. Empty for a communicator with one group. O(members).
std::string group_text(const interp::Code& code, interp::CommIndex comm, uint32_t group);

/// `%c` or `%c {y=1}`: the communicator and the group that `rank` is in.
std::string comm_text(const interp::Code& code, interp::CommIndex comm, interp::Rank rank);

}  // namespace hostir::gui
