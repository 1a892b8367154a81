#include "kernels/cpu/portable_math.h"
#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

void reference_exp(const ReferenceCall& call) { map_unary(call, portable::exp); }

}  // namespace hostir::cpu
