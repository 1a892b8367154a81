#include "interp/cuda/exchange.h"

namespace hostir::cuda {

void moves_all_gather(const Exchange& exchange, Transfers& out);
void wire_all_gather(const Exchange& exchange, size_t position, Wire& wire);

// Blocks in group order.
void moves_all_gather(const Exchange& exchange, Transfers& out) {
  int64_t at = 0;
  for (const Member& from : exchange.members) {
    for (const Member& to : exchange.members) out.give(to, at, from.in);
    at += from.in.bytes;
  }
}

// NCCL requires equal blocks; unequal ones are sent one by one.
void wire_all_gather(const Exchange& exchange, size_t position, Wire& wire) {
  const Member& self = exchange.members[position];
  const int64_t element = exchange.element_bytes();
  const int64_t own = self.in.bytes / element;
  const std::vector<int64_t>& counts = self.recv_counts;
  if (counts.empty() || all_equal(counts)) {
    wire.all_gather(self.in.data, self.out.data, own);
    return;
  }
  const std::vector<int64_t> starts = starts_of(counts);
  for (size_t p = 0; p < counts.size(); ++p) {
    std::byte* block = self.out.data + starts[p] * element;
    if (p == position) {
      wire.copy(block, self.in.data, self.in.bytes);
    } else {
      wire.send(self.in.data, own, static_cast<int>(p));
      wire.recv(block, counts[p], static_cast<int>(p));
    }
  }
}

}  // namespace hostir::cuda
