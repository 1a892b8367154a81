// One step of a redistribution between two meshes, determined by which ranks hold and need which
// boxes.
//
//   1. relabel: every rank of the target has exactly its box already; nothing moves.
//   2. local: every rank of the target has its box within the one it holds.
//   3. permute: each box that a rank needs is held by one other rank, which sends it whole. A whole
//      value can also become partial: coordinate 0 gets the boxes, others get zeros.
//   4. broadcast: one rank is the whole first mesh, and all ranks of the second need its box.
//   5. reduce: one rank is the whole second mesh; all ranks of the first hold addends of its box.
//   6. all_to_all: every element is held once and needed once; counts are box intersections.
// Permutes and exchanges go over the ranks of both meshes. Steps within one mesh are those of
// redistribute_step.h; mesh_moves.h chooses the shardings. As there, two shardings determine the
// step.
#pragma once

#include "hostir/passes/redistribute/redistribute_step.h"

namespace hostir {

/// The ranks of both meshes, ascending.
std::vector<int64_t> joined_ranks(const Mesh& a, const Mesh& b);

/// The step from `from` on `a` to `to` on `b`, which may be one mesh; nullopt if no single step
/// does it. Both shardings must be effective(). With symbolic sizes, valid for every size.
std::optional<RedistributeStep> step_between(const Mesh& a, const Mesh& b, const Shape& shape,
                                             const Sharding& from, const Sharding& to);

/// The elements that move in a step between two meshes.
struct TransferElems {
  double largest = 0;  // the most that one rank sends or receives
  double total = 0;
};
TransferElems transfer_elems(const Mesh& a, const Mesh& b, const Extents& extents,
                             const Sharding& from, const RedistributeStep& step);

}  // namespace hostir
