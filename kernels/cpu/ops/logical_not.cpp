#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

void reference_logical_not(const ReferenceCall& call) {
  map_unary(
      call, [](double x) { return x == 0 ? 1.0 : 0.0; }, [](int64_t x) { return int64_t{x == 0}; });
}

}  // namespace hostir::cpu
