#include "kernels/cpu/reference/reference_reduce.h"

namespace hostir::cpu {

void reference_reduce_sum(const ReferenceCall& call) {
  reduce(call, {Reduction::kSum, [](double a, double x) { return a + x; }, wrap_add});
}

}  // namespace hostir::cpu
