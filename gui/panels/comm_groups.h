// What to call a group of a communicator: its place in the mesh, or its ranks.
#pragma once

#include <string>

#include "interp/core/code.h"

namespace hostir::gui {

/// `{x=0, y=1}`: the coordinates that all members share, where these say which group it is; else
/// the members, `r0..r3`. Empty for a communicator of one group. O(members).
std::string group_text(const interp::Code& code, interp::CommIndex comm, uint32_t group);

/// `%c`, `%c {y=1}`: the communicator and the group of a rank.
std::string comm_text(const interp::Code& code, interp::CommIndex comm, interp::Rank rank);

}  // namespace hostir::gui
