#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

namespace {

/// Rounds toward zero; x / 0 has all bits set.
int64_t divide(int64_t a, int64_t b) {
  if (b == 0) return -1;
  return b == -1 ? wrap_sub(0, a) : a / b;
}

}  // namespace

void reference_div(const ReferenceCall& call) {
  map_binary(
      call, [](double a, double b) { return a / b; }, divide,
      [](uint64_t a, uint64_t b) { return b == 0 ? ~uint64_t{0} : a / b; });
}

}  // namespace hostir::cpu
