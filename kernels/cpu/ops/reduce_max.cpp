#include "kernels/cpu/reference/reference_reduce.h"

namespace hostir::cpu {

void reference_reduce_max(const ReferenceCall& call) {
  reduce(call, {Reduction::kMax, [](double a, double x) { return a > x || a != a ? a : x; },
                [](int64_t a, int64_t x) { return a > x ? a : x; },
                [](uint64_t a, uint64_t x) { return a > x ? a : x; }});
}

}  // namespace hostir::cpu
