// Every reshard becomes a chain of reshards, each one local kernel or one collective.
//
//   1. Plan each reshard (redistribute.h).
//   2. One step: it stays. None: its uses take the operand. Several: one reshard per step, the last
//      under the old name.
// The chain is ordinary text: between two shardings there is one step (redistribute_step.h), so
// nothing but shardings needs to be kept.
#pragma once

#include "hostir/passes/redistribute.h"
#include "hostir/passes/reshard.h"

namespace hostir {

/// `moves` must be on the mesh of the fusion.
Resharded split_reshards(const Resharded& sharded, Redistributor& moves);

}  // namespace hostir
