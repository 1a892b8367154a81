// Whether a dtype can hold a number.
//
// Values from outside the program are converted to the dtype of the tensor they initialise.
// Rounding is fine, but a number out of range must be reported, not silently changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hostir/ir/tensor.h"

namespace hostir {

/// True if `dtype` can hold `value`. Integers: within the range, 0 or 1 for i1. Floats: rounding
/// gives a finite number.
bool fits(int64_t value, DType dtype);
/// As above; for an integer dtype, after truncation. NaN and infinities fit only floats.
bool fits(double value, DType dtype);

/// Why a number from a text is not exactly a value of an integer dtype: "0.5 is not a whole
/// number". nullopt if it is, and for floats, which round.
std::optional<std::string> why_not_exact(double value, DType dtype);

/// True if unsigned integers read from a file can be the bits of `wanted`: a float of their width
/// that NumPy does not have.
constexpr bool holds_bits_of(DType stored, DType wanted) {
  return is_unsigned(stored) && is_narrow_float(wanted) && wanted != DType::kF16 &&
         size_bytes(stored) == size_bytes(wanted);
}

/// Row-major index of the first element that does not fit in `dtype`.
std::optional<int64_t> first_unfit(const Tensor& tensor, DType dtype);

}  // namespace hostir
