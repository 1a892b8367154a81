#include "interp/sim/exchange.h"

namespace hostir::sim {

// Blocks in group order, only at the root.
void sim_gather(Exchange& exchange);
void sim_gather(Exchange& exchange) {
  exchange.give(static_cast<size_t>(exchange.root()), exchange.concatenated());
}

}  // namespace hostir::sim
