// Compares tensors within a tolerance: expectations, `--expect`, the unsharded check.
//
// NaN equals NaN; Inf equals the same Inf. Dtypes may differ (a float64 file against an f32
// output): for `exact` and `ulp` the expected value is rounded to the actual dtype, otherwise it is
// used as is. The default is |a - b| <= r * max|b| with r of the actual dtype: f64 1e-12, f32 2e-6,
// f16 2e-3, bf16 1.6e-2, integers exact.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hostir/ir/script.h"
#include "hostir/ir/tensor.h"

namespace hostir::interp {

struct TensorDifference {
  int64_t first = 0;  // row-major index of the first element out of tolerance
  int64_t count = 0;  // number of elements out of tolerance
  double actual = 0;  // at `first`
  double expected = 0;
  double max_abs = 0;  // over all elements
  int64_t worst = 0;   // row-major index of the largest difference
  double allowed = 0;  // the tolerance at `first`; ulps for kUlp
  std::string actual_text;
  std::string expected_text;
};

/// nullopt if all elements agree. The extents must be equal. For the default tolerance:
/// `rounded_to` is the coarser dtype to which the tensors were rounded on the way, and `rounded`
/// the largest number that was rounded to it, if it is above max|b|.
std::optional<TensorDifference> compare(const Tensor& actual, const Tensor& expected,
                                        const Tolerance& tolerance,
                                        std::optional<DType> rounded_to = {}, double rounded = 0);
/// The r of the default tolerance.
double default_relative(DType dtype);
/// The largest |element| that is neither Inf nor NaN; 0 if there is none.
double largest_finite(const Tensor& tensor);

/// Why a tensor of this dtype cannot be the expected value for one of dtype `actual`; empty if it
/// can. The kinds (float, integer, i1) must match. Integer widths must match too, unless the
/// expected value is from a file: readers widen dtypes that have no counterpart here.
enum class IntegerWidths : uint8_t { kSame, kAny };
std::string dtype_conflict(DType actual, DType expected, IntegerWidths widths);

/// Distance in representable values of the dtype; the maximum if exactly one of the two is NaN.
uint64_t ulp_distance(DType dtype, double a, double b);

/// `exact`, `ulp(4)`, `atol(1e-06) rtol(1e-05)`, `the default for f32`.
std::string describe(const Tolerance& tolerance, DType dtype);

/// `3 of 8 elements differ, first at [1, 2]: 28 instead of 27 (|a - b| = 1, allowed 5.4e-05)`
std::string describe(const TensorDifference& difference, const Tensor& actual);

}  // namespace hostir::interp
