// After propagation: the values that cut reductions leave partial.
#pragma once

#include <vector>

#include "hostir/ir/program.h"
#include "hostir/passes/explain.h"
#include "hostir/passes/propagate/propagation_edges.h"

namespace hostir {

/// Marks the results of ops that reduce a cut dimension as unreduced, in program order. Values with
/// an annotation keep it (`annotated`, by value). `edges`: those of the fusion.
void mark_partial(const Program& program, Function& fusion,
                  const std::vector<PropagationEdge>& edges, const std::vector<bool>& annotated,
                  Explanation& explanation);

}  // namespace hostir
