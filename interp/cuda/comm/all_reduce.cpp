#include "interp/cuda/exchange.h"

namespace hostir::cuda {

void moves_all_reduce(const Exchange& exchange, Transfers& out);
void wire_all_reduce(const Exchange& exchange, size_t position, Wire& wire);

// One reduction, written to every member.
void moves_all_reduce(const Exchange& exchange, Transfers& out) {
  for (const Member& m : exchange.members) out.give_fold(exchange, m, 0, INT64_MAX / 2);
}

void wire_all_reduce(const Exchange& exchange, size_t position, Wire& wire) {
  const Member& self = exchange.members[position];
  wire.all_reduce(self.in.data, self.out.data, self.in.bytes / exchange.element_bytes());
}

}  // namespace hostir::cuda
