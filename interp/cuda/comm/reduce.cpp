#include "interp/cuda/exchange.h"

namespace hostir::cuda {

void moves_reduce(const Exchange& exchange, Transfers& out);
void wire_reduce(const Exchange& exchange, size_t position, Wire& wire);

// The reduction, only at the root.
void moves_reduce(const Exchange& exchange, Transfers& out) {
  const auto root = static_cast<size_t>(exchange.root);
  if (root >= exchange.members.size()) return;
  out.give_fold(exchange, exchange.members[root], 0, INT64_MAX / 2);
}

void wire_reduce(const Exchange& exchange, size_t position, Wire& wire) {
  const Member& self = exchange.members[position];
  const bool is_root = static_cast<size_t>(exchange.root) == position;
  wire.reduce(self.in.data, is_root ? self.out.data : nullptr,
              self.in.bytes / exchange.element_bytes(), exchange.root);
}

}  // namespace hostir::cuda
