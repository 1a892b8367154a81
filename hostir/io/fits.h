// Whether a number can be held by a dtype.
//
// Values that come from outside are converted to the dtype of what they are for. Rounding is part
// of that; a number beyond the range is not, and must be told instead of becoming another one.
#pragma once

#include <cstdint>
#include <optional>

#include "hostir/ir/tensor.h"

namespace hostir::io {

/// Integers: within the range, i1 is 0 or 1. Floats: finite stays finite.
bool fits(int64_t value, DType dtype);
/// The same, after truncation where `dtype` is an integer; NaN and infinities fit floats only.
bool fits(double value, DType dtype);

/// Row-major index of the first element that `dtype` cannot hold.
std::optional<int64_t> first_unfit(const Tensor& tensor, DType dtype);

}  // namespace hostir::io
