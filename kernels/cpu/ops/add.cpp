#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

void reference_add(const ReferenceCall& call) {
  map_binary(
      call, [](double a, double b) { return a + b; }, wrap_add);
}

}  // namespace hostir::cpu
