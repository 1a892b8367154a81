// From one sharding of a value to another: the steps of communication.
//
// Boxes, not divisibility, decide (LANGUAGE section 2). Each step is one kernel without
// communication or one collective, and takes the value from the sharding before it to `to`;
// planning a single step again gives that step back, so steps survive printing. Order, after
// Shardy's reshard-to-collectives (reference/textual.md section 2.4): slice what is only local,
// reduce (as reduce_scatter where the target is cut over the reduced axes), permute or all_to_all,
// gather last. Invariant: the axes of a value and of the steps never include axes of size 1.
#pragma once

#include <string_view>
#include <vector>

#include "hostir/ir/type.h"
#include "hostir/passes/axes.h"

namespace hostir {

enum class StepKind : uint8_t {
  kLocal,  // each rank's new box lies in its old one, or replicated becomes partial
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kAllToAll,
  kPermute,
};
std::string_view name(StepKind kind);

struct RedistributeStep {
  StepKind kind = StepKind::kLocal;
  AxisList axes;        // the communicator's, in its group order; empty for kLocal
  Sharding to;          // the value after the step
  IntLists pairs;       // kPermute: [source, target] positions in the communicator
  bool pack = false;    // blocks must be brought in group order before ...
  bool unpack = false;  // ... and out of it after
};

/// The steps from `from` to `to` (both on `mesh`); empty if nothing is to do. With symbolic sizes
/// the steps hold for every size; a permute is then an all_to_all. A partial value whose reduction
/// kind changes is reduced on the way.
std::vector<RedistributeStep> plan_redistribution(const Mesh& mesh, const Shape& shape,
                                                  const Sharding& from, const Sharding& to);

/// An estimate for choosing between plans, in nanoseconds; an unknown size counts as 1024.
double estimated_ns(const Mesh& mesh, const Shape& shape, DType dtype, const Sharding& from,
                    const std::vector<RedistributeStep>& steps);

/// Elements of the largest box, an unknown size counted as 1024.
double largest_local_elems(const Mesh& mesh, const Shape& shape, const Sharding& sharding);

}  // namespace hostir
