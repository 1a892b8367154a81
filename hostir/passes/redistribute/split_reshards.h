// Splits every reshard into a chain of reshards that are each one local kernel or one collective.
//
//   1. Plan each reshard (redistribute.h).
//   2. A plan with no steps replaces the reshard by its operand. A plan with one step keeps it. A
//      longer plan gives one reshard per step; the last one keeps the name.
// The chain needs no extra data, because two shardings determine the step between them
// (redistribute_step.h).
#pragma once

#include "hostir/passes/choose/reshard.h"

namespace hostir {

/// `moves` must be on the fusion's mesh.
Resharded split_reshards(Resharded sharded, MeshMoves& moves);

}  // namespace hostir
