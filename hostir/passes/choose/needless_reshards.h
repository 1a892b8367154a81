// Removes reshards to annotations that no op uses.
#pragma once

#include <span>
#include <string>

#include "hostir/passes/choose/reshard.h"

namespace hostir {

/// Drops a reshard to an annotation if no op needs the value in that sharding, or if it is only
/// resharded again and that takes longer than directly from the op's own sharding. The search for
/// homes counts these reshards, because an annotation asks for them.
void drop_needless_reshards(Resharded& made, MeshMoves& moves, std::span<const ValueId> keep,
                            Explanation& explanation);

}  // namespace hostir
