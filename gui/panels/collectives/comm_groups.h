// Display names for the groups of a communicator: mesh coordinates or ranks.
#pragma once

#include <string>
#include <vector>

#include "hostir/ir/mesh.h"
#include "interp/core/ids.h"

namespace hostir::gui {

/// `{x=0, y=1}`: the coordinates shared by all members, if they identify the group; otherwise, or
/// without a mesh, the members: `r0..r3`. O(members).
std::string group_text(const Mesh* mesh, const std::vector<interp::Rank>& members);

}  // namespace hostir::gui
