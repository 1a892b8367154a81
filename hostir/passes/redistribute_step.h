// One step of a redistribution: what a single kernel or collective does to a sharding.
//
// `single_step` is the one place that knows which changes of a sharding one kernel or one
// collective makes, over which communicator, and with which packing. Planners choose shardings; the
// step between two of them follows. Boxes, not divisibility, decide (LANGUAGE section 2).
// Invariant: a step between the same two shardings is the same step, so shardings are all that
// `steps` keeps.
#pragma once

#include <optional>
#include <string_view>

#include "hostir/ir/axes.h"
#include "hostir/ir/type.h"

namespace hostir {

enum class StepKind : uint8_t {
  kLocal,  // each rank has its new elements already; what becomes partial is filled up
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

/// The step from one sharding to another (both effective(), on `mesh`, not equal); nothing where
/// one kernel or collective cannot do it. With symbolic sizes the step holds for every size.
std::optional<RedistributeStep> single_step(const Mesh& mesh, const Shape& shape,
                                            const Sharding& from, const Sharding& to);

}  // namespace hostir
