#include "interp/sim/exchange.h"

namespace hostir::sim {

// Blocks in group order; one chunk, shared by every member.
void sim_all_gather(Exchange& exchange);
void sim_all_gather(Exchange& exchange) {
  const Piece result = exchange.concatenated();
  for (size_t i = 0; i < exchange.size(); ++i) exchange.give(i, result);
}

}  // namespace hostir::sim
