// Combining the buffers of a group, element by element, in group order.
//
// f64 in f64; f32 in f32; bf16 and f16 in f32 and rounded once at the end; integers wrap; i1 is a
// truth value (sum and max are "or", prod and min are "and"). NaN wins in min and max. `avg`
// divides the sum by the number of inputs, integers towards zero. The order is the group's whatever
// the tiling and the threads, so results are the same bits everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hostir/ir/dtype.h"

namespace hostir::sim {

/// out[i] = fold of inputs[0][i], inputs[1][i], ... for i in [0, elems). `out` is none of the
/// inputs. At least one input.
void fold(Reduction reduction, DType dtype, std::span<const std::byte* const> inputs,
          std::byte* out, int64_t elems);

}  // namespace hostir::sim
