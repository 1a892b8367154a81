// A step that runs one tile program over its whole space, on all threads.
#pragma once

#include "kernels/cpu/step.h"
#include "kernels/cpu/tile/tile_runner.h"

namespace hostir::cpu {

/// Runs a program. Folds start at their identities and end in their values. Pieces are cut by size
/// only, so the bits do not depend on the number of threads.
void run_tile_program(const TileProgram& program, const TileOps& ops,
                      std::span<const Memory> values, ScratchPool& scratch);

std::unique_ptr<Step> make_tile_step(TileProgram program, const TileOps& ops,
                                     std::string description);

}  // namespace hostir::cpu
