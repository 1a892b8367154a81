#include <bit>
#include <cmath>
#include <limits>

#include "kernels/cpu/portable_math.h"

namespace hostir::cpu::portable {
namespace {

constexpr double kLn2Hi = 0x1.62e42fee00000p-1;  // 33 bits: k * kLn2Hi is exact
constexpr double kLn2Lo = 0x1.a39ef35793c76p-33;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Unevaluated sum of two doubles, about 100 bits.
struct Pair {
  double hi = 0;
  double lo = 0;
};

Pair two_sum(double a, double b) {
  const double s = a + b;
  const double t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

Pair split(double a) {
  const double c = 134217729.0 * a;
  const double hi = c - (c - a);
  return {hi, a - hi};
}

Pair two_product(double a, double b) {
  const double p = a * b;
  const Pair x = split(a);
  const Pair y = split(b);
  return {p, ((x.hi * y.hi - p) + x.hi * y.lo + x.lo * y.hi) + x.lo * y.lo};
}

Pair add(Pair a, Pair b) {
  const Pair s = two_sum(a.hi, b.hi);
  return two_sum(s.hi, s.lo + a.lo + b.lo);
}

Pair multiply(Pair a, Pair b) {
  const Pair p = two_product(a.hi, b.hi);
  return two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

Pair divide(Pair a, Pair b) {
  const double q = a.hi / b.hi;
  const Pair product = multiply({q, 0}, b);
  const double rest = ((a.hi - product.hi) - product.lo) + a.lo;
  return two_sum(q, rest / b.hi);
}

/// Mantissa in [sqrt(1/2), sqrt(2)) and exponent of a positive finite number.
double normalise(double x, int64_t& exponent) {
  exponent = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    exponent = -54;
  }
  const auto bits = std::bit_cast<uint64_t>(x);
  exponent += static_cast<int64_t>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffffu) | 0x3ff0000000000000u);
  if (m > 0x1.6a09e667f3bcdp+0) {
    m *= 0.5;
    ++exponent;
  }
  return m;
}

/// exp(hi + lo) for a finite sum within the range of double.
double exp_pair(double hi, double lo) {
  if (hi > 710) return kInf;
  if (hi < -746) return 0;
  const double k = floor(hi * 0x1.71547652b82fep+0 + 0.5);
  const Pair r = two_sum(hi - k * kLn2Hi, lo - k * kLn2Lo);
  const double e = expm1_small(r.hi);
  return scale(1.0 + (e + r.lo * (1.0 + e)), static_cast<int64_t>(k));
}

/// log(x) to about 100 bits; x positive and finite.
Pair log_pair(double x) {
  int64_t exponent = 0;
  const double m = normalise(x, exponent);
  const Pair s = divide({m - 1.0, 0}, two_sum(m, 1.0));
  const Pair s2 = multiply(s, s);
  Pair sum{0, 0};
  for (int n = 41; n >= 1; n -= 2) {
    sum = add(multiply(sum, s2), divide({1, 0}, {static_cast<double>(n), 0}));
  }
  const Pair series = multiply(sum, {2.0 * s.hi, 2.0 * s.lo});
  const double k = static_cast<double>(exponent);
  return add(add({k * kLn2Hi, 0}, multiply({k, 0}, {kLn2Lo, 0x1.ef35793c7673p-90})), series);
}

double power_of_integer(double x, int64_t n) {
  const bool negative = n < 0;
  double base = x;
  double result = 1;
  for (int64_t k = negative ? -n : n; k > 0; k /= 2) {
    if (k % 2 == 1) result *= base;
    base *= base;
  }
  return negative ? 1.0 / result : result;
}

double pow_of_zero_or_infinity(double x, double y, bool y_is_odd) {
  const bool vanishes = (x == 0) == (y > 0);
  const double magnitude = vanishes ? 0.0 : kInf;
  return y_is_odd && std::signbit(x) ? -magnitude : magnitude;
}

}  // namespace

double floor(double x) {
  if (!(x < 0x1p52 && x > -0x1p52)) return x;  // integers already, infinities, NaN
  const auto whole = static_cast<double>(static_cast<int64_t>(x));
  const double result = whole > x ? whole - 1 : whole;
  return result == 0 ? std::copysign(result, x) : result;
}

double scale(double x, int64_t k) {
  while (k > 1000) {
    x *= 0x1p1000;
    k -= 1000;
  }
  while (k < -900) {
    if (k < -1100) return x * 0.0;
    // Rounds only once: the last factor brings the result into the subnormal range.
    x *= 0x1p-100;
    k += 100;
  }
  return x * std::bit_cast<double>(static_cast<uint64_t>(k + 1023) << 52);
}

double expm1_small(double x) {
  double p = 0;
  for (int n = 23; n >= 2; --n) p = (p + 1.0) * x / static_cast<double>(n);
  return x + x * p;
}

double exp(double x) {
  if (x != x) return x;
  return exp_pair(x, 0);
}

double log(double x) {
  if (x != x || x < 0) return kNan;
  if (x == 0) return -kInf;
  if (x == kInf) return x;
  int64_t exponent = 0;
  const double m = normalise(x, exponent);
  const double s = (m - 1.0) / (m + 1.0);
  const double s2 = s * s;
  double tail = 0;
  for (int n = 25; n >= 3; n -= 2) tail = tail * s2 + 1.0 / static_cast<double>(n);
  const double k = static_cast<double>(exponent);
  return k * kLn2Hi + (k * kLn2Lo + (2.0 * s + 2.0 * s * s2 * tail));
}

double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return kNan;
  const bool y_is_integer = floor(y) == y;
  const bool y_is_odd = y_is_integer && std::fabs(y) < 0x1p53 && floor(y / 2) * 2 != y;
  const double magnitude = std::fabs(x);
  if (std::fabs(y) == kInf) {
    if (magnitude == 1) return 1;
    return (magnitude > 1) == (y > 0) ? kInf : 0;
  }
  if (x == 0 || magnitude == kInf) return pow_of_zero_or_infinity(x, y, y_is_odd);
  if (x < 0 && !y_is_integer) return kNan;
  if (y_is_integer && std::fabs(y) <= 16) return power_of_integer(x, static_cast<int64_t>(y));
  if (y == 0.5) return std::sqrt(x);
  const Pair product = multiply(log_pair(magnitude), {y, 0});
  double result = 0;
  if (product.hi > 710) {
    result = kInf;
  } else if (product.hi >= -746) {
    result = exp_pair(product.hi, product.lo);
  }
  return y_is_odd && x < 0 ? -result : result;
}

}  // namespace hostir::cpu::portable
