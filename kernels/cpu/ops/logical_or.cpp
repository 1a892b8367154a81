#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

void reference_logical_or(const ReferenceCall& call) {
  map_compare(
      call, [](double a, double b) { return a != 0 || b != 0; },
      [](int64_t a, int64_t b) { return a != 0 || b != 0; });
}

}  // namespace hostir::cpu
