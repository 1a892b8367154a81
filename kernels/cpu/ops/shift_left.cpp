#include "kernels/cpu/reference/reference_shift.h"

namespace hostir::cpu {

void reference_shift_left(const ReferenceCall& call) {
  shift(call, [](int64_t a, int64_t by, int64_t width) {
    if (by < 0 || by >= width) return int64_t{0};
    return static_cast<int64_t>(static_cast<uint64_t>(a) << by);
  });
}

}  // namespace hostir::cpu
