#include "interp/cuda/exchange.h"

namespace hostir::cuda {

void moves_send(const Exchange& exchange, Transfers& out);
void wire_send(const Exchange& exchange, size_t position, Wire& wire);

// Two members, sender first.
void moves_send(const Exchange& exchange, Transfers& out) {
  if (exchange.members.size() == 2) out.give(exchange.members[1], 0, exchange.members[0].in);
}

// `pairs` holds the two positions in the communicator; `position` is 0 for the sender.
void wire_send(const Exchange& exchange, size_t position, Wire& wire) {
  const Member& self = exchange.members[position];
  const auto [source, target] = exchange.pairs.front();
  const int64_t element = exchange.element_bytes();
  if (source == target) return;
  if (position == 0) {
    wire.send(self.in.data, self.in.bytes / element, target);
  } else {
    wire.recv(self.out.data, self.out.bytes / element, source);
  }
}

}  // namespace hostir::cuda
