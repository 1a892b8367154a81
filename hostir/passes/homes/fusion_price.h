// The cost of a fusion with reshards: its moves and its work, on the rank with most of it.
//
// Times are those of the machine's model, added up: nothing overlaps. Where some collectives can
// share a call, their starts count once in `shared_ns`. Prices are compared, never shown.
#pragma once

#include "hostir/passes/meshes/mesh_moves.h"

namespace hostir {

struct Price {
  double ns = 0;
  double shared_ns = 0;  // where moves that can share a call have one start,
  double moves_ns = 0;   // and its part for moves
  double bytes = 0;      // over one rank's links
  /// On fast links, a gather takes about as long as other choices, and the model of time is not
  /// exact enough to decide. So the better price must save both time and bytes, or very much of one
  /// of them.
  bool is_worth_more_than(const Price& other) const;
};

/// The work of an instruction of such a fusion, none of its moves; 0 for ops without cost.
double work_ns(const Program& program, const Function& fusion, const Instruction& instruction,
               MeshMoves& moves);

/// `fusion` is the output of insert_reshards(); `moves` must have its meshes.
Price price_of(const Program& program, const Function& fusion, MeshMoves& moves);

}  // namespace hostir
