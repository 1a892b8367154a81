#include "interp/sim/exchange.h"

namespace hostir::sim {

// The reduction, cut into blocks of the members' output sizes in group order.
void sim_reduce_scatter(Exchange& exchange);
void sim_reduce_scatter(Exchange& exchange) {
  const Piece result = exchange.folded();
  int64_t at = 0;
  for (size_t i = 0; i < exchange.size(); ++i) {
    exchange.give(i, result.part(at, exchange.out_bytes(i)));
    at += exchange.out_bytes(i);
  }
}

}  // namespace hostir::sim
