// The shortest cycle of a graph of waits.
#pragma once

#include <cstdint>
#include <vector>

namespace hostir::diagnose {

/// `next` has the successors of each node. Returns the nodes of the shortest cycle, from the lowest
/// node that is in one as short (of two nodes, if there is one of two); empty if there is no cycle.
/// Cost: O(nodes + edges) for each removal of a node that it takes to leave no cycle, and for each
/// node below the first one of the result that is in a longer cycle.
std::vector<uint32_t> shortest_cycle(std::vector<std::vector<uint32_t>> next);

}  // namespace hostir::diagnose
