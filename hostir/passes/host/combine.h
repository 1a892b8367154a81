// Combines collectives that need not wait for each other into one call, `group { ... }`.
//
// Like XLA's combiners and PyTorch's coalesced collectives, this saves starts: a group is issued
// once and its members' latencies overlap. No buffer is copied.
//
//   1. Visit the tasks in order, and keep the expected time at which each is done, with all kernels
//      on one stream and all collectives on another.
//   2. A collective may join an earlier call of the same kind, communicator and reduction if it
//      does not depend on it and the call stays below kMaxCombinedBytes. Two of one size that have
//      the same users, such as the parts of a complex value, may exceed it if nothing ends later.
//   3. The joint call takes the place of the later one. Tasks that depend on the earlier one move
//      after it, in the same order, together with the allocs of their buffers.
//   4. The joint call is kept if it delays the end of the function by at most a tenth of the
//      start that it saves. The rest of the function is estimated in its old order. The members
//      keep their order, so every rank still issues the same sequence.
#pragma once

#include "hostir/ir/machine.h"
#include "hostir/passes/explain.h"

namespace hostir {

/// The most bytes that one call moves per rank: XLA's default for GPUs.
inline constexpr double kMaxCombinedBytes = 30.0 * 1024 * 1024;

/// `host` is straight-line, on one stream. `value_of` names the fusion value that a collective
/// produces, for the explanation.
Function combine_collectives(const Program& program, const Function& host, const Machine& machine,
                             const ValueNamer& value_of, Explanation& explanation);

}  // namespace hostir
