#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

void reference_neg(const ReferenceCall& call) {
  map_unary(
      call, [](double x) { return -x; }, [](int64_t x) { return wrap_sub(0, x); });
}

}  // namespace hostir::cpu
