#include "interp/session/write_difference.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "interp/session/compare.h"

namespace hostir::interp {

namespace {

size_t ulp_class(int64_t ulp) {
  if (ulp <= 1) return 0;
  if (ulp <= 4) return 1;
  if (ulp <= 16) return 2;
  if (ulp <= 256) return 3;
  return ulp <= 65536 ? 4 : 5;
}

// Integers are as far apart as their difference; above 2^53 doubles would not see it.
int64_t distance_in_ulp(const Tensor& a, const Tensor& b, int64_t i, double x, double y) {
  if (is_float(a.dtype)) return ulp_distance(a.dtype, x, y);
  const int64_t m = a.get_int(i);
  const int64_t n = b.get_int(i);
  int64_t distance = 0;
  if (__builtin_sub_overflow(std::max(m, n), std::min(m, n), &distance))
    return std::numeric_limits<int64_t>::max();
  return distance;
}

}  // namespace

WriteDifference measure(const Tensor& a, const Tensor& b) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  WriteDifference d;
  d.elements = a.element_count();
  for (int64_t i = 0; i < d.elements; ++i) {
    const double x = a.get_double(i);
    const double y = b.get_double(i);
    if (std::isfinite(y)) d.scale = std::max(d.scale, std::fabs(y));
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x == y && is_float(a.dtype)) continue;
    const int64_t ulp = distance_in_ulp(a, b, i, x, y);
    if (ulp == 0) continue;
    if (d.differing++ == 0) d.first = i;
    ++d.by_ulp[ulp_class(ulp)];
    const bool finite = std::isfinite(x) && std::isfinite(y);
    const double distance = finite ? std::fabs(x - y) : kInfinite;
    d.max_abs = std::max(d.max_abs, distance);
    d.max_rel = std::max(d.max_rel, finite && y != 0 ? distance / std::fabs(y) : kInfinite);
    if (d.worst < 0 || ulp > d.max_ulp) d.worst = i;
    d.max_ulp = std::max(d.max_ulp, ulp);
  }
  return d;
}

WriteOutcome judge(const WriteDifference& d, const DiffLimits& limits) {
  if (d.differing == 0 || d.max_ulp <= limits.ulp) return WriteOutcome::kWithinUlp;
  if (std::isfinite(d.max_abs) && d.max_abs <= limits.relative * d.scale)
    return WriteOutcome::kWithinTolerance;
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
  if (!std::isfinite(d.max_abs)) return count + ", with NaN or Inf in one run only";
  return count + fmt::format(", at most {} ulp, |a - b| <= {:.3g}, relative {:.3g}", d.max_ulp,
                             d.max_abs, d.max_rel);
}

}  // namespace hostir::interp
