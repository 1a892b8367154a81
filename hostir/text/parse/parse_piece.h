// Parsers for meshes, machines and tests.
#pragma once

#include <set>

#include "hostir/text/parse/cursor.h"

namespace hostir::text {

/// `mesh @m = <dp=2, tp=4, device_ids=[...]>` or `mesh @s0 = @w[pp=0]`, after the keyword. Resolves
/// a sub-mesh against the meshes of `program`.
std::optional<Mesh> parse_mesh(Cursor& cursor, const Program& program);

/// `machine @name { field = value ... }`, after the keyword.
std::optional<Machine> parse_machine(Cursor& cursor);

/// `test "title" { statements }`, after the keyword. Sets `complete` to false if a statement was
/// skipped after an error.
std::optional<TestPiece> parse_test(Cursor& cursor, bool& complete);

}  // namespace hostir::text
