// Joining a tile program's instructions into strands (tile_strand.h).
#pragma once

#include "kernels/cpu/tile_program.h"

namespace hostir::cpu {

/// Replaces chains of at least two cheap f32 instructions by one instruction each, which runs where
/// the last of them stood; the bits of every stored value stay the same. Before assign_slots().
void join_strands(TileProgram& program, const TileOps& ops);

}  // namespace hostir::cpu
