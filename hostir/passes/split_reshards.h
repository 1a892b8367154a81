// Every reshard becomes a chain of reshards, each one local kernel or one collective.
//
//   1. Plan each reshard (redistribute.h).
//   2. One step: it stays. None: its uses take the operand. Several: one reshard per step, the last
//      under the old name.
// The chain is ordinary text: planning a step again gives that step, so nothing but shardings needs
// to be kept.
#pragma once

#include "hostir/passes/reshard.h"

namespace hostir {

Expected<Resharded> split_reshards(const Program& program, const Resharded& sharded,
                                   const std::string& mesh);

}  // namespace hostir
