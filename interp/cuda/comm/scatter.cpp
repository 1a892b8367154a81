#include "interp/cuda/exchange.h"

namespace hostir::cuda {

void moves_scatter(const Exchange& exchange, Transfers& out);
void wire_scatter(const Exchange& exchange, size_t position, Wire& wire);

// The root's input, cut into blocks of the members' output sizes in group order.
void moves_scatter(const Exchange& exchange, Transfers& out) {
  const auto root = static_cast<size_t>(exchange.root);
  if (root >= exchange.members.size()) return;
  int64_t at = 0;
  for (const Member& to : exchange.members) {
    out.give(to, 0, exchange.in_part(root, at, to.out.bytes));
    at += to.out.bytes;
  }
}

void wire_scatter(const Exchange& exchange, size_t position, Wire& wire) {
  const Member& self = exchange.members[position];
  const int64_t element = exchange.element_bytes();
  if (static_cast<size_t>(exchange.root) != position) {
    wire.recv(self.out.data, self.out.bytes / element, exchange.root);
    return;
  }
  const std::vector<int64_t> starts = starts_of(self.send_counts);
  for (size_t p = 0; p < self.send_counts.size(); ++p) {
    const std::byte* block = self.in.data + starts[p] * element;
    if (p != position) {
      wire.send(block, self.send_counts[p], static_cast<int>(p));
    } else if (self.has_out) {
      wire.copy(self.out.data, block, self.out.bytes);
    }
  }
}

}  // namespace hostir::cuda
