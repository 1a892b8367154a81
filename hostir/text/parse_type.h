// Axes, shardings and types.
//
// Only the syntax is checked here; whether meshes and axes exist and fit is the verifier's
// business.
#pragma once

#include <optional>

#include "hostir/text/cursor.h"

namespace hostir::text {

/// `{dp, tp:(1)2}`, and `{dp, ?}` where an open dimension is allowed.
std::optional<DimSharding> parse_axes(Cursor& cursor);
/// `[{dp}, {}]` and what may follow: `, unreduced=max{tp}`; of the mesh `mesh`.
std::optional<Sharding> parse_dims(Cursor& cursor, std::string mesh);
/// `<@m, [{dp}, {}], unreduced={tp}>`
std::optional<Sharding> parse_sharding(Cursor& cursor);
/// `[...]` of `mesh`, or `<@other, [...]>`.
std::optional<Sharding> parse_layout(Cursor& cursor, const std::string& mesh);
/// `tensor<4x8xf32>` with a sharding after it or not, `shard<4x8xf32, @m, [{x}, {}]>`.
std::optional<Type> parse_type(Cursor& cursor, const SourceManager& sources);

}  // namespace hostir::text
