#include "interp/cuda/exchange.h"

namespace hostir::cuda {

void moves_permute(const Exchange& exchange, Transfers& out);
void wire_permute(const Exchange& exchange, size_t position, Wire& wire);

// (source, target) pairs; a position without a source gets zeros.
void moves_permute(const Exchange& exchange, Transfers& out) {
  std::vector<bool> reached(exchange.members.size(), false);
  for (const auto& [source, target] : exchange.pairs) {
    const auto from = static_cast<size_t>(source);
    const auto to = static_cast<size_t>(target);
    if (from >= reached.size() || to >= reached.size()) continue;
    out.give(exchange.members[to], 0, exchange.members[from].in);
    reached[to] = true;
  }
  for (size_t i = 0; i < reached.size(); ++i) {
    if (!reached[i]) out.give_zeros(exchange.members[i]);
  }
}

void wire_permute(const Exchange& exchange, size_t position, Wire& wire) {
  const Member& self = exchange.members[position];
  const int64_t element = exchange.element_bytes();
  const std::byte* input = wire.steady_input(self);
  bool reached = false;
  for (const auto& [source, target] : exchange.pairs) {
    const bool from_me = static_cast<size_t>(source) == position;
    const bool to_me = static_cast<size_t>(target) == position;
    reached = reached || to_me;
    if (from_me && to_me) {
      wire.copy(self.out.data, input, self.out.bytes);
    } else if (from_me) {
      wire.send(input, self.in.bytes / element, target);
    } else if (to_me) {
      wire.recv(self.out.data, self.out.bytes / element, source);
    }
  }
  if (!reached && self.has_out) wire.copy(self.out.data, nullptr, self.out.bytes);
}

}  // namespace hostir::cuda
