// Makes the moves between meshes explicit, so that every op of a fusion has its operands and
// results on one mesh (hostir/ops/value_meshes.h).
//
//   1. An operand on another mesh than the op goes through a `reshard` that leaves its dimensions
//      open. Uses on one mesh share it. A source is computed again instead.
//   2. If a result is annotated or declared on another mesh than the op runs on, a reshard follows.
// Fusions on one mesh are returned as they are. All instructions record in `from(...)` which
// instruction of the given fusion they come from.
#pragma once

#include "hostir/ops/value_meshes.h"
#include "hostir/support/expected.h"

namespace hostir {

/// Errors: `mesh_c9` an op has operands on two meshes and does not say where it runs.
Expected<Function> with_mesh_borders(Function fusion);

}  // namespace hostir
