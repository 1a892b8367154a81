#include "interp/cuda/exchange.h"

namespace hostir::cuda {

void moves_send(const Exchange& exchange, Transfers& out);
void wire_send(const Exchange& exchange, size_t position, Wire& wire);
void moves_recv(const Exchange& exchange, Transfers& out);
void wire_recv(const Exchange& exchange, size_t position, Wire& wire);

// The same exchange, from the other end.
void moves_recv(const Exchange& exchange, Transfers& out) { moves_send(exchange, out); }
void wire_recv(const Exchange& exchange, size_t position, Wire& wire) {
  wire_send(exchange, position, wire);
}

}  // namespace hostir::cuda
