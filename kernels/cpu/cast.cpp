#include "kernels/cpu/reference_support.h"

namespace hostir::cpu {

// Float to integer truncates and saturates (NaN becomes 0); integers wrap; to i1 is `!= 0`.
void reference_cast(const ReferenceCall& call) {
  map_unary(
      call, [](double x) { return x; }, [](int64_t x) { return x; });
}

}  // namespace hostir::cpu
