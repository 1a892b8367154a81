// Chooses the homes of axes (axis_homes.h): the cheapest of a few.
//
//   1. Dimensions that share a factor of a rule form a class: the batch, the features, ...
//   2. An axis with annotations in two classes that meet in one op has a conflict.
//   3. For each such axis, each of the classes with most elements is tried as its home, together
//      with all classes that do not meet it or each other (the heads and the hidden features). The
//      fusion, or a few layers of a long one (layer_sample.h), is propagated and resharded, and its
//      moves and work are added up (fusion_price.h), once more with moves that can share a call as
//      one start.
//   4. The cheapest wins. Having no home is tried first, and wins if all others cost about as much.
// If the whole fusion was tried, lowering continues with its result.
#pragma once

#include <optional>

#include "hostir/passes/choose/reshard.h"
#include "hostir/passes/homes/axis_homes.h"
#include "hostir/passes/propagate/propagation_edges.h"

namespace hostir {

/// A fusion with some homes, propagated and resharded.
struct TriedHomes {
  Function propagated;
  Explanation propagation;
  Resharded resharded;
  Explanation resharding;
};

struct ChosenHomes {
  AxisHomes homes;
  std::optional<TriedHomes> tried;  // with `homes`; nullopt if nothing or only a part was tried
  Explanation explanation;          // of each axis that could have a home
};

/// The homes with which `fusion` costs least; none if it has values on several meshes or the user
/// gave priorities to annotations. `fusion` is the input of propagate(), with its `edges`. Errors:
/// those of the sharding rules.
Expected<ChosenHomes> cheapest_homes(const Program& program, const Function& fusion,
                                     const std::vector<PropagationEdge>& edges,
                                     const std::string& mesh, MeshMoves& moves,
                                     std::span<const ValueId> keep, Alternatives alternatives);

/// The homes that a search found for a fusion with another number of the same layers.
AxisHomes homes_like(const NamedHomes& homes, const Function& fusion,
                     const std::vector<PropagationEdge>& edges);

}  // namespace hostir
