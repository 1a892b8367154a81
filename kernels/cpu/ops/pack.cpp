#include "kernels/cpu/plan/relayout.h"

namespace hostir::cpu {

void reference_pack(const ReferenceCall& call) {
  relayout(*call.in[0], call.in_data[0], *call.out[0], call.out_data[0]);
}

}  // namespace hostir::cpu
