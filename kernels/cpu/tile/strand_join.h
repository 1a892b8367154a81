// Joins a tile program's instructions into strands (tile_strand.h).
#pragma once

#include "kernels/cpu/tile/tile_program.h"

namespace hostir::cpu {

/// Replaces each chain of at least two cheap f32 instructions by one instruction at the position of
/// the chain's last one; the bits of every stored value stay the same. Must run before
/// assign_slots().
void join_strands(TileProgram& program, const TileOps& ops);

}  // namespace hostir::cpu
