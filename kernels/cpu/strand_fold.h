// Combining several buffers element by element, in order, at memory speed: what reductions over
// ranks do. One strand per tile: each input is read once, the sum stays in registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hostir/ir/dtype.h"

namespace hostir::cpu {

/// out[i] = fold of inputs[0][i], inputs[1][i], .. for f32 and bf16, combined in f32 in that order
/// and rounded once; `avg` divides the sum by the number of inputs; NaN wins in min and max. At
/// least one input; `out` is none of them. False, and nothing is done, for other dtypes. Uses the
/// kernels' threads; the bits depend neither on them nor on the instruction set.
bool fold_in_order(Reduction reduction, DType dtype, std::span<const std::byte* const> inputs,
                   std::byte* out, int64_t elems);

}  // namespace hostir::cpu
