#include "kernels/cpu/reference/reference_starts.h"

namespace hostir::cpu {

void reference_dynamic_slice(const ReferenceCall& call) {
  const auto start = box_start(call, 1, call.in[0]->global, call.out[0]->global);
  gather(call, 0, call.out[0]->box, [&](const auto& index, auto& source) {
    for (size_t d = 0; d < index.size(); ++d) source[d] = start[d] + index[d];
  });
}

}  // namespace hostir::cpu
