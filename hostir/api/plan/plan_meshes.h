// The meshes that a plan may use.
#pragma once

#include <string>
#include <vector>

#include "hostir/ir/mesh.h"
#include "hostir/support/expected.h"

namespace hostir::api {

using MeshAxes = std::vector<MeshAxis>;

/// Parses the axes of each text: `dp=4,tp=2`, or `<dp=4, tp=2>` as in the language. Errors: kUsage
/// for a text that is not a mesh, and for meshes with different numbers of ranks.
Expected<std::vector<MeshAxes>> parse_mesh_axes(const std::vector<std::string>& texts);

int64_t rank_count(const MeshAxes& axes);

/// `axes` with every combination of sizes that gives `ranks`, in ascending order of the first size.
std::vector<MeshAxes> all_sizes(const MeshAxes& axes, int64_t ranks);

/// `dp=2 tp=4`.
std::string axes_text(const MeshAxes& axes);

}  // namespace hostir::api
