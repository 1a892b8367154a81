// The loop of the shifts, which depend on the width of the dtype.
#pragma once

#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

/// Calls `f(a, b, bits)` for each pair of elements.
template <class F>
void shift(const ReferenceCall& call, F f) {
  const Placement& out = *call.out[0];
  const AlignedOperand a(*call.in[0], call.in_data[0], out.box);
  const AlignedOperand b(*call.in[1], call.in_data[1], out.box);
  const int64_t bits = 8 * size_bytes(out.dtype);
  for (int64_t i = 0; i < out.box.volume(); ++i) {
    int64_t x = 0;
    int64_t by = 0;
    load_ints(out.dtype, a.data(), i, 1, &x);
    load_ints(out.dtype, b.data(), i, 1, &by);
    const int64_t y = f(x, by, bits);
    store_ints(out.dtype, call.out_data[0].data, i, 1, &y);
  }
}

}  // namespace hostir::cpu
