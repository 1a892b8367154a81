#include "interp/sim/exchange.h"

namespace hostir::sim {

// The root's input, shared by every member.
void sim_broadcast(Exchange& exchange);
void sim_broadcast(Exchange& exchange) {
  const auto root = static_cast<size_t>(exchange.root());
  if (root >= exchange.size()) return;
  for (size_t i = 0; i < exchange.size(); ++i) exchange.give(i, exchange.in(root));
}

}  // namespace hostir::sim
