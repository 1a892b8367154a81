#include "interp/cuda/exchange.h"

namespace hostir::cuda {

void moves_reduce_scatter(const Exchange& exchange, Transfers& out);
void wire_reduce_scatter(const Exchange& exchange, size_t position, Wire& wire);

// The reduction, cut into blocks of the members' output sizes in group order.
void moves_reduce_scatter(const Exchange& exchange, Transfers& out) {
  int64_t at = 0;
  for (const Member& to : exchange.members) {
    const int64_t elems = to.out.bytes / exchange.element_bytes();
    out.give_fold(exchange, to, at, elems);
    at += elems;
  }
}

// NCCL requires equal blocks; unequal ones are each a reduce to their owner.
void wire_reduce_scatter(const Exchange& exchange, size_t position, Wire& wire) {
  const Member& self = exchange.members[position];
  const int64_t element = exchange.element_bytes();
  const std::vector<int64_t>& counts = self.send_counts;
  if (counts.empty() || all_equal(counts)) {
    wire.reduce_scatter(self.in.data, self.out.data, self.out.bytes / element);
    return;
  }
  const std::vector<int64_t> starts = starts_of(counts);
  for (size_t p = 0; p < counts.size(); ++p) {
    wire.reduce(self.in.data + starts[p] * element, p == position ? self.out.data : nullptr,
                counts[p], static_cast<int>(p));
  }
}

}  // namespace hostir::cuda
