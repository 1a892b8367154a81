#include "kernels/cpu/reference/reference_gather.h"

namespace hostir::cpu {

// Keeps the row-major order of the *global* elements; the boxes determine which of them are local.
void reference_reshape(const ReferenceCall& call) {
  const Placement& in = *call.in[0];
  const Placement& out = *call.out[0];
  gather(call, 0, out.box, [&](const auto& index, auto& source) {
    int64_t linear = global_linear_index(out.global, index);
    for (size_t d = source.size(); d > 0; --d) {
      source[d - 1] = linear % in.global[d - 1];
      linear /= in.global[d - 1];
    }
  });
}

}  // namespace hostir::cpu
