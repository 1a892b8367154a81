#include <cmath>

#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

void reference_rem(const ReferenceCall& call) {
  map_binary(
      call, [](double a, double b) { return std::fmod(a, b); },
      [](int64_t a, int64_t b) { return b == 0    ? a
                                        : b == -1 ? int64_t{0}
                                                  : a % b; },
      [](uint64_t a, uint64_t b) { return b == 0 ? a : a % b; });
}

}  // namespace hostir::cpu
