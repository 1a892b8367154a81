#include "interp/cuda/exchange.h"

namespace hostir::cuda {

void moves_all_to_all(const Exchange& exchange, Transfers& out);
void wire_all_to_all(const Exchange& exchange, size_t position, Wire& wire);

// Block j of member i becomes block i of member j.
void moves_all_to_all(const Exchange& exchange, Transfers& out) {
  const size_t n = exchange.members.size();
  const int64_t element = exchange.element_bytes();
  std::vector<int64_t> sent(n, 0);
  for (size_t to = 0; to < n; ++to) {
    int64_t received = 0;
    for (size_t from = 0; from < n; ++from) {
      const int64_t bytes = block_elems(exchange, from, to) * element;
      const Side block = exchange.in_part(from, sent[from], bytes);
      out.give(exchange.members[to], received, block);
      sent[from] += bytes;
      received += block.bytes;
    }
  }
}

void wire_all_to_all(const Exchange& exchange, size_t position, Wire& wire) {
  const Member& self = exchange.members[position];
  const auto n = exchange.members.size();
  const int64_t element = exchange.element_bytes();
  const auto equal_out = self.out.bytes / element / static_cast<int64_t>(n);
  const std::byte* input = wire.steady_input(self);
  int64_t sent = 0;
  int64_t received = 0;
  for (size_t p = 0; p < n; ++p) {
    const int64_t out = block_elems(exchange, position, p);
    const int64_t in = p < self.recv_counts.size() ? self.recv_counts[p] : equal_out;
    if (p == position) {
      wire.copy(self.out.data + received * element, input + sent * element, in * element);
    } else {
      wire.send(input + sent * element, out, static_cast<int>(p));
      wire.recv(self.out.data + received * element, in, static_cast<int>(p));
    }
    sent += out;
    received += in;
  }
}

}  // namespace hostir::cuda
