#include "kernels/cpu/reference/reference_starts.h"

namespace hostir::cpu {

void reference_dynamic_update_slice(const ReferenceCall& call) {
  const Placement& update = *call.in[1];
  const auto start = box_start(call, 2, call.in[0]->global, update.global);
  gather(call, 0, call.out[0]->box, [](const auto& index, auto& source) { source = index; });
  Box part = Box::whole(update.global);
  for (size_t d = 0; d < start.size(); ++d) {
    part.lo[d] += start[d];
    part.hi[d] += start[d];
  }
  gather(call, 1, part.intersect(call.out[0]->box), [&](const auto& index, auto& source) {
    for (size_t d = 0; d < index.size(); ++d) source[d] = index[d] - start[d];
  });
}

}  // namespace hostir::cpu
