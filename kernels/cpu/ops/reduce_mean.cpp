#include "kernels/cpu/reference/reference_reduce.h"

namespace hostir::cpu {

// Divides by the global count, so that partial results over a sharded dimension add up to the mean.
void reference_reduce_mean(const ReferenceCall& call) {
  reduce_and_divide(call, folded_elems(call));
}

}  // namespace hostir::cpu
