#include "kernels/cpu/reference/reference_reduce.h"

namespace hostir::cpu {

void reference_reduce_prod(const ReferenceCall& call) {
  reduce(call, {Reduction::kProd, [](double a, double x) { return a * x; }, wrap_mul});
}

}  // namespace hostir::cpu
