#include "interp/sim/exchange.h"

namespace hostir::sim {

// (source, target) pairs; a position without a source gets zeros.
void sim_permute(Exchange& exchange);
void sim_permute(Exchange& exchange) {
  std::vector<bool> reached(exchange.size(), false);
  for (const auto& [source, target] : exchange.pairs()) {
    const auto from = static_cast<size_t>(source);
    const auto to = static_cast<size_t>(target);
    if (from >= exchange.size() || to >= exchange.size()) continue;
    exchange.give(to, exchange.in(from));
    reached[to] = true;
  }
  for (size_t i = 0; i < exchange.size(); ++i) {
    if (!reached[i]) exchange.give_zeros(i);
  }
}

}  // namespace hostir::sim
