// Proposes shardings that divide a value alike on two meshes, for moves between meshes
// (mesh_moves.h).
#pragma once

#include <optional>

#include "hostir/ir/axes.h"

namespace hostir {

/// A sharding on `mesh` with as many parts in each dimension, and as many addends, as `other` has
/// on `other_mesh`. Of those tried, the one that gives most ranks the same box on both meshes.
/// nullopt if the mesh's axes do not give such parts.
std::optional<Sharding> arranged_like(const Mesh& mesh, const Mesh& other_mesh,
                                      const Sharding& other, const Extents& extents);

/// `sharding`, cut further over all axes of the mesh that it does not use.
Sharding cut_over_all(const Mesh& mesh, Sharding sharding, const Extents& extents);

/// Sizes for comparing boxes: the known ones, a large number for others.
Extents typical_extents(const Shape& shape);

}  // namespace hostir
