#include "interp/sim/exchange.h"

namespace hostir::sim {

// The reduction, only at the root.
void sim_reduce(Exchange& exchange);
void sim_reduce(Exchange& exchange) {
  exchange.give(static_cast<size_t>(exchange.root()), exchange.folded());
}

}  // namespace hostir::sim
