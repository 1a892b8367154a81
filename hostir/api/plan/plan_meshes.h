// The meshes that a plan may use.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hostir/ir/program.h"
#include "hostir/support/expected.h"

namespace hostir::api {

using MeshAxes = std::vector<MeshAxis>;

/// Parses the axes of each text: `dp=4,tp=2`, or `<dp=4, tp=2>` as in the language. Errors: kUsage
/// for a text that is not a mesh, and for meshes with different numbers of ranks.
Expected<std::vector<MeshAxes>> parse_mesh_axes(const std::vector<std::string>& texts);

int64_t rank_count(const MeshAxes& axes);

/// `axes` with every combination of sizes that gives `ranks`, in ascending order of the first size.
std::vector<MeshAxes> all_sizes(const MeshAxes& axes, int64_t ranks);

/// The same without meshes on which one axis that is not `written` takes all ranks: if only one is
/// written, that mesh is the same under another name.
std::vector<MeshAxes> all_meshes(const MeshAxes& axes, std::span<const MeshAxis> written,
                                 int64_t ranks);

/// The meshes with the axes of `written` that they lack, of size 1.
std::vector<MeshAxes> with_axes(std::vector<MeshAxes> meshes, std::span<const MeshAxis> written);

bool has_axis(std::span<const MeshAxis> axes, const std::string& name);

/// True if `fusion` cuts a value that it computes, so that its axes are not interchangeable.
bool names_axes_inside(const Function& fusion);

/// Of meshes with the same sizes but for axes of size 1, keeps the last one: `dp=8 tp=1`, without
/// `dp=1 tp=8`.
void drop_renamed(std::vector<MeshAxes>& meshes);

/// `dp=2 tp=4`.
std::string axes_text(const MeshAxes& axes);

}  // namespace hostir::api
