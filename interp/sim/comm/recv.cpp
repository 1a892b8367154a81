#include "interp/sim/exchange.h"

namespace hostir::sim {

// The same exchange, from the other end.
void sim_send(Exchange& exchange);
void sim_recv(Exchange& exchange);
void sim_recv(Exchange& exchange) { sim_send(exchange); }

}  // namespace hostir::sim
