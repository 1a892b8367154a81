#include "interp/cuda/exchange.h"

namespace hostir::cuda {

void moves_gather(const Exchange& exchange, Transfers& out);
void wire_gather(const Exchange& exchange, size_t position, Wire& wire);

// Blocks in group order, only at the root.
void moves_gather(const Exchange& exchange, Transfers& out) {
  const auto root = static_cast<size_t>(exchange.root);
  if (root >= exchange.members.size()) return;
  int64_t at = 0;
  for (const Member& from : exchange.members) {
    out.give(exchange.members[root], at, from.in);
    at += from.in.bytes;
  }
}

void wire_gather(const Exchange& exchange, size_t position, Wire& wire) {
  const Member& self = exchange.members[position];
  const int64_t element = exchange.element_bytes();
  if (static_cast<size_t>(exchange.root) != position) {
    wire.send(self.in.data, self.in.bytes / element, exchange.root);
    return;
  }
  const std::vector<int64_t> starts = starts_of(self.recv_counts);
  for (size_t p = 0; p < self.recv_counts.size(); ++p) {
    std::byte* block = self.out.data + starts[p] * element;
    if (p == position) {
      wire.copy(block, self.in.data, self.in.bytes);
    } else {
      wire.recv(block, self.recv_counts[p], static_cast<int>(p));
    }
  }
}

}  // namespace hostir::cuda
