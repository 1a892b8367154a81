// How far two tensors differ: the numbers of one write in two runs.
//
// Counts and distances over all elements are measured once and judged afterwards, because limits
// can be changed interactively. NaN equals NaN, and +0 equals -0: such elements do not differ even
// if their bits do.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "hostir/ir/tensor.h"

namespace hostir::interp {

struct WriteDifference {
  int64_t elements = 0;
  int64_t differing = 0;   // by value
  int64_t first = -1;      // row-major index of the first that differs; -1: none does
  int64_t not_finite = 0;  // differing elements with NaN or Inf in one or both
  int64_t nan_in_one = 0;  // of those: NaN in only one
  int64_t worst = -1;      // an element of `nan_in_one`, else of `not_finite`, else the largest ulp
  double max_abs = 0;      // infinite if some elements are not finite
  double max_rel = 0;      // |a - b| / |b|
  uint64_t max_ulp = 0;    // if neither is NaN; for integers |a - b|
  double scale = 0;        // max |b| over finite elements
  /// Histogram: elements 1, 2-4, 5-16, 17-256, 257-65536 and more ulp apart, without `nan_in_one`.
  std::array<int64_t, 6> by_ulp{};
  friend bool operator==(const WriteDifference&, const WriteDifference&) = default;
};

/// Both of the same dtype and extents.
WriteDifference measure(const Tensor& a, const Tensor& b);

/// What counts as nearly equal.
struct DiffLimits {
  int64_t ulp = 4;
  double relative = 1e-5;  // |a - b| <= relative * max |b|
  friend bool operator==(const DiffLimits&, const DiffLimits&) = default;
};

/// The result of comparing a write, best first.
enum class WriteOutcome : uint8_t {
  kEqual,            // the same bits
  kWithinUlp,        // different bits, within the ulp limit
  kWithinTolerance,  // above the ulp limit, but small relative to the largest element
  kNotReached,       // one run has not reached it yet
  kNotCompared,      // different shapes or parts of the tensor, or a log without values
  kDiffers,          // different contents; the distance is not known (yet)
  kOver,
  kOnlyA,
  kOnlyB,
};

WriteOutcome judge(const WriteDifference& difference, const DiffLimits& limits);
/// Neither equal nor within the limits: needs attention.
bool is_divergent(WriteOutcome outcome);
/// `equal bits`, `within 4 ulp`, `over`, ...
std::string describe(WriteOutcome outcome, const DiffLimits& limits);
/// `2 ulp`, `> 9e18 ulp`
std::string describe_ulp(uint64_t ulp);
/// a < b and |a - b| of two integers of one dtype, exactly.
bool is_integer_less(const Tensor& a, const Tensor& b, int64_t index);
uint64_t integer_distance(const Tensor& a, const Tensor& b, int64_t index);
/// `3 of 48 elements, at most 2 ulp, |a - b| <= 1.2e-07, relative 8.3e-08`
std::string describe(const WriteDifference& difference);

}  // namespace hostir::interp
