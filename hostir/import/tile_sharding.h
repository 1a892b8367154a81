// Shardings in XLA's notations, as Shardy's.
//
// `{replicated}`, `{devices=[2,1]0,1}`, `{devices=[2,2]<=[4] last_tile_dim_replicate}`,
// `{mesh['x'=2], [{'x'}, {}]}`. Tile assignments name no axes: `mesh_for` finds the axes that all
// of them need, by the strides with which a tile dimension walks the devices, and `sharding_on`
// says each of them on that mesh.
#pragma once

#include <string_view>

#include "hostir/ir/mesh.h"
#include "hostir/ir/sharding.h"
#include "hostir/support/expected.h"

namespace hostir::importer {

struct TileSharding {
  enum class Kind : uint8_t { kReplicated, kTiled, kNamed };
  Kind kind = Kind::kReplicated;
  std::vector<int64_t> tiles;     // kTiled: parts per dimension, replicating dimensions behind
  std::vector<int64_t> devices;   // in row-major order of the tiles
  size_t replicating = 0;         // how many of the last tile dimensions only replicate
  std::vector<MeshAxis> mesh;     // kNamed
  std::vector<DimSharding> dims;  // kNamed
};

/// Whether a mesh has this axis, and the part of it that is meant.
bool has_axis(const Mesh& mesh, const AxisRef& axis);

/// Nothing where the text is in a form that is not known.
std::optional<TileSharding> parse_tile_sharding(std::string_view text);

/// A mesh of `devices` devices that has the axes of all these shardings. Errors: `import_c8` where
/// the devices are in no order that a mesh has, or the shardings need axes that cross.
Expected<Mesh> mesh_for(const std::vector<TileSharding>& shardings, int64_t devices);

/// The sharding of a tensor of this rank on that mesh; nothing where it does not fit.
std::optional<Sharding> sharding_on(const Mesh& mesh, const TileSharding& sharding, size_t rank);

/// Replica groups: `{{0,1},{2,3}}`, `[2,2]<=[2,2]T(1,0)`, `mesh['x'=2,'y'=4] {'y'}`, `{}` for
/// everybody.
std::optional<std::vector<std::vector<int64_t>>> parse_replica_groups(std::string_view text,
                                                                      int64_t devices);

}  // namespace hostir::importer
