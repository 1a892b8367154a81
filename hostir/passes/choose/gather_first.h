// Gathers the operands of a composite instead of its results, where that takes less time.
//
// A softmax over a cut dimension is computed in parts: all_reduces of the maximum and of the sum,
// on the critical path. If its result is gathered all the same, it can take the gathered operand,
// and its all_reduces disappear, while each rank does the work of all.
//   1. For each reshard that only gathers a value of a composite, take the composite's instructions
//      as a group, with the reshards between them.
//   2. The group can do without the gathered axes if they cut nothing that others use of it.
//   3. Compare the time of its moves and work with that of the moves of its operands and the work
//      without these axes, and rewrite the group if it is longer.
// The ops of a fusion have global semantics, so a group is right under every sharding.
#pragma once

#include "hostir/passes/explain.h"
#include "hostir/passes/meshes/mesh_moves.h"
#include "hostir/passes/prepare/value_names.h"

namespace hostir {

/// `bound`: the fusion that `from` of the instructions refers to; it has the composites. Results
/// stay cut where they are annotated.
void gather_first(const Program& program, const Function& bound, Function& made, MeshMoves& moves,
                  const ValueNames& value_names, Explanation& explanation);

}  // namespace hostir
