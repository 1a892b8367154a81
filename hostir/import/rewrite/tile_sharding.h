// Converts shardings in XLA's notations to Shardy's.
//
// The notations are `{replicated}`, `{devices=[2,1]0,1}`,
// `{devices=[2,2]<=[4] last_tile_dim_replicate}` and `{mesh['x'=2], [{'x'}, {}]}`. Tile assignments
// have no axis names. `mesh_for` finds the axes that all assignments need, from the strides with
// which tile dimensions step through the devices. `sharding_on` converts each one to that mesh.
#pragma once

#include <string_view>

#include "hostir/ir/mesh.h"
#include "hostir/ir/sharding.h"
#include "hostir/support/expected.h"

namespace hostir::importer {

struct TileSharding {
  enum class Kind : uint8_t { kReplicated, kTiled, kNamed };
  Kind kind = Kind::kReplicated;
  std::vector<int64_t> tiles;     // kTiled: parts per dimension, then replicating dimensions
  std::vector<int64_t> devices;   // in row-major tile order
  std::vector<MeshAxis> mesh;     // kNamed
  std::vector<DimSharding> dims;  // kNamed
};

/// True if the mesh has this axis or sub-axis.
bool has_axis(const Mesh& mesh, const AxisRef& axis);

/// Parses a sharding; nullopt if the notation is not supported.
std::optional<TileSharding> parse_tile_sharding(std::string_view text);

/// The shardings of the `count` elements of a tuple, `{{replicated}, {devices=[2]<=[2]}}`; the
/// sharding itself if there is one element. Empty if there is none, or another number.
std::vector<std::string_view> element_shardings(std::string_view text, size_t count);

/// A mesh of `devices` devices that has the axes of all these shardings. Errors: `import_c8` if the
/// device order does not match a mesh, or the shardings need incompatible axes.
Expected<Mesh> mesh_for(const std::vector<TileSharding>& shardings, int64_t devices);

/// The sharding on that mesh of a tensor with `rank` dimensions; nullopt if it does not fit.
std::optional<Sharding> sharding_on(const Mesh& mesh, const TileSharding& sharding, size_t rank);

/// Parses replica groups: `{{0,1},{2,3}}`, `[2,2]<=[2,2]T(1,0)`, `mesh['x'=2,'y'=4] {'y'}`; `{}` is
/// one group of all devices.
std::optional<std::vector<std::vector<int64_t>>> parse_replica_groups(std::string_view text,
                                                                      int64_t devices);

}  // namespace hostir::importer
