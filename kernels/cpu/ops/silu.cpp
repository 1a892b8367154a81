#include "kernels/cpu/portable_math.h"
#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

// At minus infinity the product is NaN, as in PyTorch; IEEE offers nothing better.
void reference_silu(const ReferenceCall& call) {
  map_unary(call, [](double x) { return x * portable::sigmoid(x); });
}

}  // namespace hostir::cpu
