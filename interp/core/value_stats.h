// Minimum, maximum, mean, NaNs and infinities of a written value.
#pragma once

#include "interp/core/backend.h"

namespace hostir::interp {

/// NaNs and infinities alone, at the speed of memory.
void count_not_finite(DType dtype, const std::byte* data, int64_t elems, ValueSummary& summary);
/// Over finite elements; all zero if there are none. Infinities count for min and max.
void add_stats(DType dtype, const std::byte* data, int64_t elems, ValueSummary& summary);

}  // namespace hostir::interp
