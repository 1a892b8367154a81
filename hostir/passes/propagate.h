// Sharding propagation by factor rules, forwards and backwards.
//
// After Shardy (reference/textual.md section 2.2): rules name the factors that dimensions share,
// and along an op every tensor that has a factor may be cut over the same axes.
//   1. Annotations hold; a written dimension is closed unless it says `?`. Everything else is open.
//   2. Five rounds, each to a fixpoint and each including the ones before: (0) ops that pass
//      dimensions through one to one, where the operands have one use; (1) all of those; (2) every
//      op, only factors that operands and results share, broadcasts backwards only; (3) also
//      reduction factors; (4) broadcasts forwards too.
//   3. A round first joins only what no tensor of the op contradicts (basic), then what each tensor
//      can take for itself (aggressive): larger tensors first, for pointwise ops most parts first.
//   4. A result of a cut reduction factor is marked `unreduced`, unless it is annotated.
// Annotated values stay closed in the output, all others keep `?`, so that the next pass, and a
// reader, can tell a wish from an order. Uneven cuts propagate; boxes are checked by reshard.
#pragma once

#include "hostir/passes/explain.h"

namespace hostir {

/// `mesh` must exist in the program; every sharding of the fusion is on it.
/// Errors: those of the ops' rules.
Expected<Function> propagate(const Program& program, const Function& fusion,
                             const std::string& mesh, Explanation& explanation);

}  // namespace hostir
