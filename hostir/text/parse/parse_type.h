// Parsers for axes, shardings and types.
//
// They check only the syntax. The verifier checks that meshes and axes exist and fit.
#pragma once

#include <optional>

#include "hostir/text/parse/cursor.h"

namespace hostir::text {

/// `{dp, tp:(1)2}`, or `{dp, ?}` for an open dimension.
std::optional<DimSharding> parse_axes(Cursor& cursor);
/// `[{dp}, {}]` on the mesh `mesh`, optionally followed by `, unreduced=max{tp}`.
std::optional<Sharding> parse_dims(Cursor& cursor, std::string mesh);
/// `<@m, [{dp}, {}], unreduced={tp}>`
std::optional<Sharding> parse_sharding(Cursor& cursor);
/// `[...]` on `mesh`, or `<@other, [...]>`.
std::optional<Sharding> parse_layout(Cursor& cursor, const std::string& mesh);
/// `tensor<4x8xf32>` with an optional sharding after it, `shard<4x8xf32, @m, [{x}, {}]>`, ...
std::optional<Type> parse_type(Cursor& cursor, const SourceManager& sources);

}  // namespace hostir::text
