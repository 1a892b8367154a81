// How far two tensors are apart: the numbers of one write in two runs.
//
// Counts and distances over all elements, measured once; what they amount to is judged afterwards,
// because limits are changed while one looks. NaN equals NaN, and +0 equals -0: such elements do
// not differ although their bits may.
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
  int64_t not_finite = 0;  // of those that differ: NaN or Inf in one of them or in both
  int64_t nan_in_one = 0;  // of those: NaN in one of them only
  int64_t worst = -1;      // one of `nan_in_one`, else of `not_finite`, else the most ulp apart
  double max_abs = 0;      // infinite: some are not finite
  double max_rel = 0;      // |a - b| / |b|
  uint64_t max_ulp = 0;    // where neither is NaN; integers: |a - b|
  double scale = 0;        // max |b|, of finite ones
  /// Elements that are 1, 2-4, 5-16, 17-256, 257-65536 and more ulp apart; none of `nan_in_one`.
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

/// What became of a write, best first.
enum class WriteOutcome : uint8_t {
  kEqual,            // the same bits
  kWithinUlp,        // other bits, within the limits
  kWithinTolerance,  // so many ulp are too much, but small beside the largest element
  kNotReached,       // one run has not got there yet
  kNotCompared,      // other shapes or parts of the tensor, or a log without values
  kDiffers,          // other contents; how far apart is not known (yet)
  kOver,
  kOnlyA,
  kOnlyB,
};

WriteOutcome judge(const WriteDifference& difference, const DiffLimits& limits);
/// Neither equal nor within limits: somebody has to look.
bool is_divergent(WriteOutcome outcome);
/// `equal bits`, `within 4 ulp`, `over`, ...
std::string describe(WriteOutcome outcome, const DiffLimits& limits);
/// `2 ulp`, `> 9e18 ulp`
std::string describe_ulp(uint64_t ulp);
/// |a - b| of two integers, exactly.
uint64_t integer_distance(int64_t a, int64_t b);
/// `3 of 48 elements, at most 2 ulp, |a - b| <= 1.2e-07, relative 8.3e-08`
std::string describe(const WriteDifference& difference);

}  // namespace hostir::interp
