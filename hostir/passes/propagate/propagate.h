// Sharding propagation by factor rules, forwards and backwards.
//
// Follows Shardy: an op's sharding rule names the factors that its dimensions share, and all
// tensors of the op that have a factor may be cut over the same axes.
//   1. Annotations are fixed: an annotated dimension is closed unless it is marked `?`. All other
//      dimensions are open. Pinned and unreduced axes are not added to any dimension of the value.
//   2. Priorities, lowest number first: at each, all dimensions up to that priority pass axes on.
//      The others may only be cut further, in the direction of their own axes.
//   3. For each priority there are five rounds, each run to a fixpoint and each including the ones
//      before:
//      (0) ops that map dimensions one to one and whose operands have a single use; indexed ops
//          (dynamic_slice) only forwards;
//      (1) all ops that map dimensions one to one;
//      (2) all ops, but only factors shared by operands and results; broadcasts only backwards;
//      (3) also reduction factors, and from tensors that are much smaller;
//      (4) also broadcasts forwards.
//   4. Each round first adds axes that no tensor of the op contradicts (basic), then axes that
//      each tensor can take individually (aggressive): larger tensors first, and for pointwise ops
//      the tensor with most parts first. Operands of a pointwise op take only what a result takes
//      too. An axis with a home (axis_homes.h) cuts nothing else in the ops that have its home. If
//      a cut has two units (DimSharding::unit), open dimensions take the larger one. A merged
//      dimension may be cut elsewhere than at the borders of its factors: it still passes its axes
//      on, and takes those borders if it is open.
//   5. If a reduction factor is cut, the result is marked `unreduced` unless it is annotated.
// In the output, annotated values are closed and all others keep `?`, so that a reader and the next
// pass can tell preferences from requirements. Uneven cuts propagate; reshard checks the boxes.
#pragma once

#include "hostir/passes/explain.h"
#include "hostir/passes/homes/axis_homes.h"
#include "hostir/passes/meshes/mesh_moves.h"
#include "hostir/passes/propagate/propagation_edges.h"

namespace hostir {

/// `mesh` must exist in the program, and every sharding in the fusion must be on it. `edges` and
/// `homes` are of this fusion; `moves` has its meshes and remembers what is found.
Function propagate(const Program& program, Function fusion,
                   const std::vector<PropagationEdge>& edges, const std::string& mesh,
                   MeshMoves& moves, Explanation& explanation, const AxisHomes& homes = {});

}  // namespace hostir
