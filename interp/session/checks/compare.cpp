#include "interp/session/checks/compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "hostir/ir/inline_value.h"
#include "hostir/support/text.h"

namespace hostir::interp {
namespace {

// Maps a value to an integer of the same order.
int64_t ordered_bits(DType dtype, double value) {
  if (!is_float(dtype)) return static_cast<int64_t>(value);
  if (dtype == DType::kF64) {
    const auto bits = std::bit_cast<int64_t>(value);
    return bits < 0 ? std::numeric_limits<int64_t>::min() - bits : bits;
  }
  int64_t bits = 0;
  store_double(dtype, reinterpret_cast<std::byte*>(&bits), value);
  const int64_t sign = int64_t{1} << (8 * size_bytes(dtype) - 1);
  return bits >= sign ? sign - bits : bits;
}

// Decides whether one element is within tolerance.
struct ToleranceCheck {
  Tolerance tolerance;
  DType dtype;
  double scale = 0;  // tolerance of the default rule

  double allowed(double expected) const {
    switch (tolerance.kind) {
      case Tolerance::Kind::kDefault:
        return scale;
      case Tolerance::Kind::kExact:
        return 0;
      case Tolerance::Kind::kUlp:
        return static_cast<double>(tolerance.ulp);
      case Tolerance::Kind::kAbsRel:
        return tolerance.atol + tolerance.rtol * std::fabs(expected);
    }
    return 0;
  }

  bool accepts(double actual, double expected) const {
    if (std::isnan(actual) || std::isnan(expected))
      return std::isnan(actual) == std::isnan(expected);
    if (actual == expected) return true;
    if (tolerance.kind == Tolerance::Kind::kExact) return false;
    if (tolerance.kind == Tolerance::Kind::kUlp)
      return tolerance.ulp >= 0 &&
             ulp_distance(dtype, actual, expected) <= static_cast<uint64_t>(tolerance.ulp);
    if (std::isinf(actual) || std::isinf(expected)) return false;
    return std::fabs(actual - expected) <= allowed(expected);
  }
};

ToleranceCheck make_judge(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance,
                          std::optional<DType> rounded_to, double rounded) {
  ToleranceCheck judge{tolerance, actual.dtype, 0};
  if (tolerance.kind != Tolerance::Kind::kDefault) return judge;
  judge.scale =
      std::max(rounded, largest_finite(expected)) *
      std::max(default_relative(actual.dtype), rounded_to ? default_relative(*rounded_to) : 0);
  return judge;
}

double rounded_once(DType dtype, double value) {
  Tensor one = Tensor::zeros(dtype, {});
  one.set_double(0, value);
  return one.get_double(0);
}

// Compared as integers: a double cannot represent all of them above 2^53.
std::optional<TensorDifference> compare_integers(const Tensor& actual, const Tensor& expected) {
  TensorDifference d;
  const int64_t n = actual.element_count();
  for (int64_t i = 0; i < n; ++i) {
    if (actual.get_int(i) == expected.get_int(i)) continue;
    if (d.count++ == 0) d.first = i;
    const double distance = std::fabs(actual.get_double(i) - expected.get_double(i));
    if (distance > d.max_abs) {
      d.max_abs = distance;
      d.worst = i;
    }
  }
  if (d.count == 0) return std::nullopt;
  return d;
}

std::optional<TensorDifference> compare_floats(const Tensor& actual, const Tensor& expected,
                                               const ToleranceCheck& judge) {
  const bool round = judge.tolerance.kind == Tolerance::Kind::kExact ||
                     judge.tolerance.kind == Tolerance::Kind::kUlp;
  TensorDifference d;
  const int64_t n = actual.element_count();
  for (int64_t i = 0; i < n; ++i) {
    const double a = actual.get_double(i);
    double b = expected.get_double(i);
    if (round && expected.dtype != actual.dtype) b = rounded_once(actual.dtype, b);
    const double distance = std::fabs(a - b);
    if (distance > d.max_abs) {
      d.max_abs = distance;
      d.worst = i;
    }
    if (judge.accepts(a, b)) continue;
    if (d.count++ > 0) continue;
    d.first = i;
    d.allowed = judge.allowed(b);
  }
  if (d.count == 0) return std::nullopt;
  return d;
}

}  // namespace

double default_relative(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return 1e-12;
    case DType::kF32:
      return 2e-6;
    case DType::kF16:
      return 2e-3;
    case DType::kBF16:
      return 1.6e-2;
    default:  // 8-bit floats: one unit in the last place of the largest
      return is_float(dtype) ? std::ldexp(1, -facts_of(dtype).mantissa_bits) : 0;
  }
}

double largest_finite(const Tensor& tensor) {
  double largest = 0;
  const int64_t n = tensor.element_count();
  for (int64_t i = 0; i < n; ++i) {
    const double v = std::fabs(tensor.get_double(i));
    if (std::isfinite(v)) largest = std::max(largest, v);
  }
  return largest;
}

uint64_t ulp_distance(DType dtype, double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) == std::isnan(b) ? 0 : std::numeric_limits<uint64_t>::max();
  const int64_t x = ordered_bits(dtype, a);
  const int64_t y = ordered_bits(dtype, b);
  // Unsigned, because f64 values of opposite sign can be more than 2^63 apart.
  return static_cast<uint64_t>(std::max(x, y)) - static_cast<uint64_t>(std::min(x, y));
}

std::optional<TensorDifference> compare(const Tensor& actual, const Tensor& expected,
                                        const Tolerance& tolerance, std::optional<DType> rounded_to,
                                        double rounded) {
  const bool integers = !is_float(actual.dtype) && !is_float(expected.dtype);
  auto difference =
      integers && tolerance.kind != Tolerance::Kind::kAbsRel
          ? compare_integers(actual, expected)
          : compare_floats(actual, expected,
                           make_judge(actual, expected, tolerance, rounded_to, rounded));
  if (!difference) return difference;
  difference->actual = actual.get_double(difference->first);
  difference->expected = expected.get_double(difference->first);
  difference->actual_text = format_number(actual, difference->first);
  difference->expected_text = format_number(expected, difference->first);
  return difference;
}

std::string dtype_conflict(DType actual, DType expected, IntegerWidths widths) {
  if (actual == expected || (is_float(actual) && is_float(expected))) return {};
  const bool integers =
      !is_float(actual) && !is_float(expected) && actual != DType::kI1 && expected != DType::kI1;
  if (integers && widths == IntegerWidths::kAny) return {};
  return fmt::format("it is {}, but the expected value is {}", name(actual), name(expected));
}

std::string describe(const Tolerance& tolerance, DType dtype) {
  switch (tolerance.kind) {
    case Tolerance::Kind::kDefault:
      return fmt::format("the default for {}", name(dtype));
    case Tolerance::Kind::kExact:
      return "exact";
    case Tolerance::Kind::kUlp:
      return fmt::format("ulp({})", tolerance.ulp);
    case Tolerance::Kind::kAbsRel:
      return fmt::format("atol({:.6g}) rtol({:.6g})", tolerance.atol, tolerance.rtol);
  }
  return "";
}

std::string describe(const TensorDifference& d, const Tensor& actual) {
  const std::string where = index_text(Box::whole(actual.extents).index_at(d.first));
  std::string out = fmt::format("{} of {} elements differ, first at {}: {} instead of {}", d.count,
                                actual.element_count(), where, d.actual_text, d.expected_text);
  if (is_float(actual.dtype)) {
    out += fmt::format(" (|a - b| = {:.3g}, allowed {:.3g})", std::fabs(d.actual - d.expected),
                       d.allowed);
  }
  return out;
}

}  // namespace hostir::interp
