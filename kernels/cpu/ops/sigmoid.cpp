#include "kernels/cpu/portable_math.h"
#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

void reference_sigmoid(const ReferenceCall& call) { map_unary(call, portable::sigmoid); }

}  // namespace hostir::cpu
