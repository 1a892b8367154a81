#include "interp/sim/exchange.h"

namespace hostir::sim {

// Two members, sender first; the receiver shares the sender's bytes.
void sim_send(Exchange& exchange);
void sim_send(Exchange& exchange) {
  if (exchange.size() == 2) exchange.give(1, exchange.in(0));
}

}  // namespace hostir::sim
