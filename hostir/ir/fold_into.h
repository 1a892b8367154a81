// Partial values combined into the whole one, element by element.
#pragma once

#include "hostir/ir/tensor.h"

namespace hostir {

/// `into[to + i] = into[to + i] (kind) from[at + i]` for i in [0, count). Floats are combined in
/// the dtype of `into` (16- and 8-bit ones must have been widened), integers wrap, NaN wins in min
/// and max. The caller divides for an average.
void fold_into(Tensor& into, int64_t to, const Tensor& from, int64_t at, int64_t count,
               Reduction kind);

}  // namespace hostir
