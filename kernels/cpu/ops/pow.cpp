#include "kernels/cpu/portable_math.h"
#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

namespace {

uint64_t natural_power(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result *= base;
    base *= base;
  }
  return result;
}

/// Wraps; a negative exponent gives 0 except for bases 1 and -1.
int64_t integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    return base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  }
  return static_cast<int64_t>(
      natural_power(static_cast<uint64_t>(base), static_cast<uint64_t>(exponent)));
}

}  // namespace

void reference_pow(const ReferenceCall& call) {
  map_binary(call, portable::pow, integer_power, natural_power);
}

}  // namespace hostir::cpu
