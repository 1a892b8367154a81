#include "kernels/cpu/plan/contraction.h"

namespace hostir::cpu {

void reference_linear(const ReferenceCall& call) { contract(call, RightLayout::kRowsAreN); }

}  // namespace hostir::cpu
