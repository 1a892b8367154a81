#include "kernels/cpu/plan/contraction.h"

namespace hostir::cpu {

void reference_matmul(const ReferenceCall& call) { contract(call, RightLayout::kRowsAreK); }

}  // namespace hostir::cpu
