// Reduces several buffers element by element, in order, at memory speed; used for reductions over
// ranks. One strand per tile: each input is read once, the sum stays in registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hostir/ir/dtype.h"

namespace hostir::cpu {

/// out[i] = reduction of inputs[0][i], inputs[1][i], .. for f32 and bf16, in f32 in that order and
/// rounded once. `avg` divides the sum by the number of inputs; min and max propagate NaN. At least
/// one input; `out` must not be one of them. For other dtypes it does nothing and returns false.
/// Uses the kernels' threads; the bits depend neither on their number nor on the instruction set.
bool fold_in_order(Reduction reduction, DType dtype, std::span<const std::byte* const> inputs,
                   std::byte* out, int64_t elems);

}  // namespace hostir::cpu
