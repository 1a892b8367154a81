#include "interp/sim/exchange.h"

namespace hostir::sim {

// The root's input, cut into blocks of the members' output sizes in group order.
void sim_scatter(Exchange& exchange);
void sim_scatter(Exchange& exchange) {
  const auto root = static_cast<size_t>(exchange.root());
  if (root >= exchange.size()) return;
  int64_t at = 0;
  for (size_t i = 0; i < exchange.size(); ++i) {
    exchange.give(i, exchange.in(root).part(at, exchange.out_bytes(i)));
    at += exchange.out_bytes(i);
  }
}

}  // namespace hostir::sim
