// Computes composites in a ring where their operands are cut like that: attention whose queries and
// keys are cut over the same axes (context parallelism).
//
//   1. A composite with an `expand_ring` whose operands 0 and 1 have the next to last dimension cut
//      over the same axes, into plain parts, is a candidate.
//   2. An op that shares an optional result with a candidate (the weights of attention, which the
//      gradient uses) must be one too, with the same parts; else neither is.
//   3. Where asked for, mark the candidates `balanced`: then every position gets the same work
//      (hostir/ops/balanced_ring.cpp), at the price of moving the operands into another order.
//   4. Replace the candidates. The new values are annotated, so a second propagation cuts them as
//      intended, and each move to the next position becomes one permute or what takes less time.
// No rank then has all keys, or scores for them, at any time, and the permutes overlap the
// products.
#pragma once

#include "hostir/ir/program.h"
#include "hostir/passes/explain.h"

namespace hostir {

enum class Rings : uint8_t { kNone, kInOrder, kBalanced };

/// `fusion` with rings, given what propagation made of it. nullopt if nothing can be a ring; then
/// `explanation` says why for each op that could have been one. `rings` is not kNone.
Expected<std::optional<Function>> with_rings(const Program& program, const Function& fusion,
                                             const Function& propagated, Rings rings,
                                             Explanation& explanation);

/// True if an op of the fusion might be computed in a ring.
bool may_have_rings(const Function& fusion);

/// True if kBalanced may make another ring of an op than kInOrder.
bool may_be_balanced(const Function& fusion);

}  // namespace hostir
