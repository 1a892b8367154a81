// Reduces the buffers of a group element by element, in group order.
//
// f64 in f64; f32 in f32; bf16 and f16 in f32, rounded once at the end; integers wrap; i1 is a
// truth value (sum and max are "or", prod and min are "and"). min and max propagate NaN. `avg`
// divides the sum by the number of inputs, integers towards zero. The order is the group's,
// independent of tiling and threads, so results are bitwise reproducible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hostir/ir/dtype.h"

namespace hostir::sim {

/// out[i] = reduction of inputs[0][i], inputs[1][i], ... for i in [0, elems). `out` must not be one
/// of the inputs. At least one input.
void fold(Reduction reduction, DType dtype, std::span<const std::byte* const> inputs,
          std::byte* out, int64_t elems);

}  // namespace hostir::sim
