#include "interp/session/checks/write_difference.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "interp/session/checks/compare.h"

namespace hostir::interp {

namespace {

size_t ulp_class(uint64_t ulp) {
  if (ulp <= 1) return 0;
  if (ulp <= 4) return 1;
  if (ulp <= 16) return 2;
  if (ulp <= 256) return 3;
  return ulp <= 65536 ? 4 : 5;
}

// For integers the exact difference, which doubles cannot represent above 2^53.
uint64_t distance_in_ulp(const Tensor& a, const Tensor& b, int64_t i, double x, double y) {
  if (is_float(a.dtype)) return ulp_distance(a.dtype, x, y);
  return integer_distance(a, b, i);
}

}  // namespace

WriteDifference measure(const Tensor& a, const Tensor& b) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  WriteDifference d;
  d.elements = a.element_count();
  const bool floats = is_float(a.dtype);
  uint64_t worst = 0;
  for (int64_t i = 0; i < d.elements; ++i) {
    const double x = a.get_double(i);
    const double y = b.get_double(i);
    if (std::isfinite(y)) d.scale = std::max(d.scale, std::fabs(y));
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x == y && floats) continue;
    const uint64_t ulp = distance_in_ulp(a, b, i, x, y);
    if (ulp == 0) continue;
    if (d.differing++ == 0) d.first = i;
    const bool nan = std::isnan(x) || std::isnan(y);
    const bool finite = std::isfinite(x) && std::isfinite(y);
    d.not_finite += finite ? 0 : 1;
    d.nan_in_one += nan ? 1 : 0;
    // Different integers beyond 2^53 may convert to the same double.
    const double distance = !finite  ? kInfinite
                            : floats ? std::fabs(x - y)
                                     : static_cast<double>(ulp);
    d.max_abs = std::max(d.max_abs, distance);
    d.max_rel = std::max(d.max_rel, finite && y != 0 ? distance / std::fabs(y) : kInfinite);
    const uint64_t bad = finite ? ulp : kMost - (nan ? 0 : 1);
    if (d.worst < 0 || bad > worst) d.worst = i;
    worst = std::max(worst, bad);
    if (nan) continue;
    ++d.by_ulp[ulp_class(ulp)];
    d.max_ulp = std::max(d.max_ulp, ulp);
  }
  return d;
}

WriteOutcome judge(const WriteDifference& d, const DiffLimits& limits) {
  // Regardless of limits: Inf is one ulp from the largest finite number.
  if (d.not_finite > 0) return WriteOutcome::kOver;
  const auto ulp = static_cast<uint64_t>(std::max<int64_t>(0, limits.ulp));
  if (d.differing == 0 || d.max_ulp <= ulp) return WriteOutcome::kWithinUlp;
  if (d.max_abs <= limits.relative * d.scale) return WriteOutcome::kWithinTolerance;
  return WriteOutcome::kOver;
}

bool is_divergent(WriteOutcome outcome) { return outcome >= WriteOutcome::kDiffers; }

std::string describe(WriteOutcome outcome, const DiffLimits& limits) {
  switch (outcome) {
    case WriteOutcome::kEqual:
      return "equal bits";
    case WriteOutcome::kWithinUlp:
      return fmt::format("within {} ulp", limits.ulp);
    case WriteOutcome::kWithinTolerance:
      return "within tolerance";
    case WriteOutcome::kNotReached:
      return "not reached yet";
    case WriteOutcome::kNotCompared:
      return "not compared";
    case WriteOutcome::kDiffers:
      return "other contents";
    case WriteOutcome::kOver:
      return "over tolerance";
    case WriteOutcome::kOnlyA:
      return "only in A";
    case WriteOutcome::kOnlyB:
      return "only in B";
  }
  return "";
}

std::string describe(const WriteDifference& d) {
  if (d.differing == 0)
    return fmt::format("all {} values are equal; signs of zero or bits of NaN differ", d.elements);
  const std::string count = fmt::format("{} of {} elements", d.differing, d.elements);
  if (d.nan_in_one > 0 && d.nan_in_one == d.not_finite)
    return count + fmt::format(", {} of them NaN in one run only", d.nan_in_one);
  if (d.not_finite > 0)
    return count + fmt::format(", {} of them NaN or Inf in one run and something else in the other",
                               d.not_finite);
  return count + fmt::format(", at most {}, |a - b| <= {:.3g}, relative {:.3g}",
                             describe_ulp(d.max_ulp), d.max_abs, d.max_rel);
}

std::string describe_ulp(uint64_t ulp) {
  constexpr uint64_t kFar = 9'000'000'000'000'000'000;
  return ulp > kFar ? "> 9e18 ulp" : fmt::format("{} ulp", ulp);
}

bool is_integer_less(const Tensor& a, const Tensor& b, int64_t index) {
  const int64_t x = a.get_int(index);
  const int64_t y = b.get_int(index);
  if (a.dtype == DType::kU64) return static_cast<uint64_t>(x) < static_cast<uint64_t>(y);
  return x < y;
}

uint64_t integer_distance(const Tensor& a, const Tensor& b, int64_t index) {
  const auto x = static_cast<uint64_t>(a.get_int(index));
  const auto y = static_cast<uint64_t>(b.get_int(index));
  return is_integer_less(a, b, index) ? y - x : x - y;
}

}  // namespace hostir::interp
