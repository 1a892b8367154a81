// One step of a redistribution: the effect of a single kernel or collective on a sharding.
//
// Only `single_step` defines which sharding changes one kernel or collective can make, over which
// communicator, and with which packing. Planners choose shardings; two shardings determine the step
// between them. Steps are checked on boxes, not by divisibility (hostir/ir/sharding.h).
// Invariant: the step depends only on the two shardings, so the `steps` phase stores only those.
#pragma once

#include <optional>
#include <string_view>

#include "hostir/ir/axes.h"

namespace hostir {

enum class StepKind : uint8_t {
  kLocal,  // each rank already has its elements, or fills in the identity to become partial
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kAllToAll,
  kPermute,
  kRelabel,    // another mesh on which every rank's part is the same box: nothing moves
  kBroadcast,  // between two meshes: one rank has all that the others need
  kReduce,     // between two meshes: one rank of the first needs the sum
};
std::string_view name(StepKind kind);

/// The arrangement in a buffer of the blocks for or from the members.
enum class Blocks : uint8_t {
  kPlain,    // the collective splits or joins a row-major buffer
  kInOrder,  // row-major and one after another in group order; a view states their sizes
  kCopied,   // in another order: a kernel copies them
};

struct RedistributeStep {
  StepKind kind = StepKind::kLocal;
  AxisList axes;     // of the communicator, in group order; empty for kLocal
  Sharding to;       // the value after the step
  IntLists pairs;    // kPermute: [source, target] positions in the communicator
  int64_t root = 0;  // kBroadcast, kReduce: a position in the communicator
  Blocks sent = Blocks::kPlain;
  Blocks received = Blocks::kPlain;
  std::vector<int64_t> ranks;  // of the communicator between two meshes (mesh_step.h); else empty
};

/// True if a dimension is cut into blocks (DimSharding::block).
bool has_blocks(const Sharding& s);

/// Sizes for checking a step: the known ones, or else a few difficult ones.
std::vector<Extents> sample_extents(const Shape& shape);

/// The step from one sharding to another; nullopt if no single kernel or collective can do it. Both
/// shardings must be effective() and on `mesh`. With symbolic sizes, the step is valid for every
/// size.
std::optional<RedistributeStep> single_step(const Mesh& mesh, const Shape& shape,
                                            const Sharding& from, const Sharding& to);

}  // namespace hostir
