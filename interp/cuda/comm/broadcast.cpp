#include "interp/cuda/exchange.h"

namespace hostir::cuda {

void moves_broadcast(const Exchange& exchange, Transfers& out);
void wire_broadcast(const Exchange& exchange, size_t position, Wire& wire);

// The root's input.
void moves_broadcast(const Exchange& exchange, Transfers& out) {
  const auto root = static_cast<size_t>(exchange.root);
  if (root >= exchange.members.size()) return;
  for (const Member& to : exchange.members) out.give(to, 0, exchange.members[root].in);
}

// A root without an output broadcasts in place.
void wire_broadcast(const Exchange& exchange, size_t position, Wire& wire) {
  const Member& self = exchange.members[position];
  const bool is_root = static_cast<size_t>(exchange.root) == position;
  const int64_t bytes = is_root ? self.in.bytes : self.out.bytes;
  std::byte* out = self.has_out ? self.out.data : self.in.data;
  wire.broadcast(is_root ? self.in.data : out, out, bytes / exchange.element_bytes(),
                 exchange.root);
}

}  // namespace hostir::cuda
