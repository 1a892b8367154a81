// Functions that the language lacks, expressed by those that it has.

#include <cmath>
#include <limits>
#include <numbers>

#include "hostir/import/emit/formula.h"

namespace hostir::importer {

namespace {

// True for negative numbers and -0.
Known is_negative(Formula& f, const Known& x) {
  const Known zero = f.compare(x, f.number(0), "eq");
  return f.compare(f.select(zero, f.div(f.number(1), x), x), f.number(0), "lt");
}

// The angle of (x, y), with the signs of zeros and infinities as in C's atan2. The quotient is
// brought to [-tan(pi/8), tan(pi/8)], where a polynomial is within 2 ulp of f32 (Cephes); in f64
// one step of Newton's method follows.
Known angle(Formula& f, const Known& y, const Known& x) {
  const Known size_x = f.abs(x);
  const Known size_y = f.abs(y);
  const Known steep = f.compare(size_y, size_x, "gt");
  const Known low = f.select(steep, size_x, size_y);
  const Known high = f.select(steep, size_y, size_x);
  const Known origin = f.compare(high, f.number(0), "eq");
  const Known one = f.number(1);
  const Known equal = f.compare(low, high, "eq");  // also two infinities, whose quotient is NaN
  const Known ratio = f.select(equal, one, f.div(low, high));
  const Known t = f.select(origin, f.number(0), ratio);
  const Known wide = f.compare(t, f.number(0.41421356237309503), "gt");
  const Known u = f.select(wide, f.div(f.sub(t, one), f.add(t, one)), t);
  const Known z = f.mul(u, u);
  const Known tail =
      f.polynomial(z, {-3.33329491539e-1, 1.99777106478e-1, -1.38776856032e-1, 8.05374449538e-2});
  Known angle = f.add(f.mul(f.mul(tail, z), u), u);
  angle = f.add(angle, f.select(wide, f.number(std::numbers::pi / 4), f.number(0)));
  if (x.type.element == "f64") {
    const Known sine = f.op(OpKind::sin, angle);
    const Known cosine = f.op(OpKind::cos, angle);
    const Known rest = f.div(f.sub(f.mul(t, cosine), sine), f.add(cosine, f.mul(t, sine)));
    angle = f.add(angle, rest);
  }
  angle = f.select(steep, f.sub(f.number(std::numbers::pi / 2), angle), angle);
  angle = f.select(is_negative(f, x), f.sub(f.number(std::numbers::pi), angle), angle);
  angle = f.select(is_negative(f, y), f.op(OpKind::neg, angle), angle);
  angle = f.select(f.compare(x, x, "ne"), x, angle);  // NaN
  return f.select(f.compare(y, y, "ne"), y, angle);
}

Expected<void> emit_atan2(const OpSite& s) {
  Formula f(s);
  return f.give(s, angle(f, s.in(0), s.in(1)));
}

Expected<void> emit_atan(const OpSite& s) {
  Formula f(s);
  return f.give(s, angle(f, s.in(0), f.number(1)));
}

// asin(x) and acos(x) are angles of the triangle with sides x, sqrt((1 - x)(1 + x)) and 1.
Expected<void> emit_arc(const OpSite& s) {
  Formula f(s);
  const Known& x = s.in(0);
  const Known one = f.number(1);
  const Known other = f.sqrt(f.mul(f.sub(one, x), f.add(one, x)));
  return f.give(s, s.op.name == "chlo.acos" ? angle(f, other, x) : angle(f, x, other));
}

// With t = exp(|x|) - 1: sinh is (t + t / (t + 1)) / 2 and cosh is (t + 1 + 1 / (t + 1)) / 2.
Expected<void> emit_hyperbolic(const OpSite& s) {
  Formula f(s);
  const Known one = f.number(1);
  const Known t = f.call(s, "stablehlo.exponential_minus_one", f.abs(s.in(0)));
  const Known power = f.add(t, one);
  const Known half = f.number(0.5);
  if (s.op.name == "chlo.cosh") return f.give(s, f.mul(half, f.add(power, f.div(one, power))));
  const Known ratio = f.sub(one, f.div(one, power));  // t / (t + 1), also where t is infinite
  const Known small = f.compare(t, one, "lt");
  const Known sum = f.add(t, f.select(small, f.div(t, power), ratio));
  return f.give(s, f.mul(f.op(OpKind::sign, s.in(0)), f.mul(half, sum)));
}

// asinh(x) = log1p(|x| + x^2 / (1 + sqrt(x^2 + 1))) with x's sign; acosh(x) = log1p(d + sqrt(d (x +
// 1))) with d = x - 1; atanh(x) = (log1p(x) - log1p(-x)) / 2.
Expected<void> emit_area(const OpSite& s) {
  Formula f(s);
  const Known& x = s.in(0);
  const Known one = f.number(1);
  const auto log1p = [&](const Known& v) { return f.call(s, "stablehlo.log_plus_one", v); };
  if (s.op.name == "chlo.atanh") {
    const Known down = log1p(f.op(OpKind::neg, x));
    return f.give(s, f.mul(f.number(0.5), f.sub(log1p(x), down)));
  }
  if (s.op.name == "chlo.acosh") {
    const Known d = f.sub(x, one);
    return f.give(s, log1p(f.add(d, f.sqrt(f.mul(d, f.add(x, one))))));
  }
  const Known size = f.abs(x);
  const Known squared = f.mul(x, x);
  const Known root = f.add(one, f.sqrt(f.add(squared, one)));
  return f.give(s, f.mul(f.op(OpKind::sign, x), log1p(f.add(size, f.div(squared, root)))));
}

Expected<void> emit_erfc(const OpSite& s) {
  Formula f(s);
  return f.give(s, f.sub(f.number(1), f.op(OpKind::erf, s.in(0))));
}

// M. Giles, Approximating the erfinv function, 2010: the polynomials for f32, as in XLA.
Expected<void> emit_erf_inv(const OpSite& s) {
  Formula f(s);
  const Known& x = s.in(0);
  const Known minus = f.op(OpKind::neg, f.mul(x, x));
  const Known w = f.op(OpKind::neg, f.call(s, "stablehlo.log_plus_one", minus));
  const Known center =
      f.polynomial(f.sub(w, f.number(2.5)),
                   {1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087,
                    -4.39150654e-06, -3.5233877e-06, 3.43273939e-07, 2.81022636e-08});
  const Known tail =
      f.polynomial(f.sub(f.sqrt(w), f.number(3)),
                   {2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773,
                    -0.00367342844, 0.00134934322, 0.000100950558, -0.000200214257});
  const Known p = f.select(f.compare(w, f.number(5), "lt"), center, tail);
  const Known end = f.compare(f.abs(x), f.number(1), "eq");
  const Known infinite = f.number(std::numeric_limits<double>::infinity());
  return f.give(s, f.mul(x, f.select(end, infinite, p)));
}

// Coefficients of Chebyshev's polynomials in t, for -1 <= t <= 1: exp(-x) I1(x) / x with
// x = 4 (t + 1), and exp(-x) I1(x) sqrt(x) with x = 16 / (t + 1). Found by interpolating the
// function's series in 80-bit arithmetic.
constexpr double kBesselNear[] = {
    0.12629359322181682,     -0.17641651835783406,    0.1026436586898471,
    -0.05294598120809498,    0.024726449030626502,    -0.010564084894626177,
    0.004156422944312861,    -0.0015135724506312228,  0.0005122859561685436,
    -0.00016176081582586088, 4.781565107545947e-05,   -1.3273163655990787e-05,
    3.4702513080726682e-06,  -8.568720263793625e-07,  2.0032947523813982e-07,
    -4.445059114956503e-08,  9.381537252298622e-09,   -1.887249646384976e-09,
    3.6255895842450254e-10,  -6.663486424560204e-11,  1.1736173044816578e-11,
    -1.9839677437119866e-12, 3.223775701276981e-13,   -5.0419544705753924e-14,
    7.587399268984066e-15,   -1.0904778395917115e-15, 1.3817563765264676e-16};
constexpr double kBesselFar[] = {
    0.38928811750914005,     -0.009761097491361443,  -0.00011058893876264839,
    -3.882564808844652e-06,  -2.512236238266194e-07, -2.6314688438193e-08,
    -3.83538041252091e-09,   -5.589743204572175e-10, -1.8974979465708164e-11,
    3.252608849507624e-11,   1.4125758651193053e-11, 2.0356395537854226e-12,
    -7.198635369219051e-13,  -4.08336376051064e-13,  -2.107945991932194e-14,
    4.288777178448194e-14,   1.024359633575167e-14,  -3.700043201514125e-15,
    -1.9727797564620233e-15, 3.447525739278673e-16,  2.9287582931504085e-16};

// Clenshaw's sum of Chebyshev's polynomials.
Known chebyshev(Formula& f, const Known& t, std::span<const double> c) {
  const Known twice = f.add(t, t);
  Known now = f.number(0);
  Known before = f.number(0);
  for (size_t k = c.size() - 1; k > 0; --k) {
    Known next = f.add(f.sub(f.mul(twice, now), before), f.number(c[k]));
    before = std::exchange(now, std::move(next));
  }
  return f.add(f.sub(f.mul(t, now), before), f.number(c[0]));
}

// exp(-|x|) I1(x), with I1 the modified Bessel function of the first kind.
Expected<void> emit_bessel_i1e(const OpSite& s) {
  Formula f(s);
  const Known size = f.abs(s.in(0));
  const Known border = f.number(8);
  const Known one = f.number(1);
  const Known low = f.op(OpKind::minimum, size, border);
  const Known near = f.mul(low, chebyshev(f, f.sub(f.mul(low, f.number(0.25)), one), kBesselNear));
  const Known high = f.op(OpKind::maximum, size, border);
  const Known far =
      f.div(chebyshev(f, f.sub(f.div(f.number(16), high), one), kBesselFar), f.sqrt(high));
  const Known value = f.select(f.compare(size, border, "le"), near, far);
  return f.give(s, f.mul(f.op(OpKind::sign, s.in(0)), value));
}

Expected<void> emit_is_inf(const OpSite& s) {
  Formula f(s);
  const double infinity = std::numeric_limits<double>::infinity();
  const bool both = s.op.name == "chlo.is_inf";
  return f.give(s,
                f.compare(both ? f.abs(s.in(0)) : s.in(0),
                          f.number(s.op.name == "chlo.is_neg_inf" ? -infinity : infinity), "eq"));
}

// The gamma functions by Lanczos' approximation, with g = 7 and nine terms, as in XLA.
constexpr double kLanczosBase = 0.99999999999980993227684700473478;
constexpr double kLanczos[] = {
    676.520368121885098567009190444019, -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,   -176.61502916214059906584551354,
    12.507343278686904814458936853,     -0.13857109526572011689554707,
    9.984369578019570859563e-6,         1.50563273514931155834e-7};
constexpr double kLanczosShift = 7.5;

// log(7.5 + x), accurate for small x.
Known log_shifted(Formula& f, const OpSite& s, const Known& x) {
  const Known ratio = f.div(x, f.number(kLanczosShift));
  return f.add(f.call(s, "stablehlo.log_plus_one", ratio), f.number(std::log(kLanczosShift)));
}

// log |gamma(z)|; below 0.5 by the reflection gamma(z) gamma(1 - z) = pi / sin(pi z).
Known log_gamma(Formula& f, const OpSite& s, const Known& z) {
  const Known one = f.number(1);
  const Known half = f.number(0.5);
  const Known reflects = f.compare(z, half, "lt");
  const Known x = f.select(reflects, f.op(OpKind::neg, z), f.sub(z, one));
  Known sum = f.number(kLanczosBase);
  double term = 1;
  for (const double c : kLanczos) {
    const Known under = f.add(x, f.number(term));
    sum = f.add(sum, f.div(f.number(c), under));
    term += 1;
  }
  const Known t = f.add(x, f.number(kLanczosShift));
  const Known log_t = log_shifted(f, s, x);
  const Known power = f.mul(f.sub(f.add(x, half), f.div(t, log_t)), log_t);
  const Known scale = f.number(0.5 * std::log(2 * std::numbers::pi));
  const Known direct = f.add(f.add(scale, power), f.op(OpKind::log, sum));
  // sin(pi z) from the distance to the nearest integer, which is exact.
  const Known size = f.abs(z);
  const Known part = f.sub(size, f.op(OpKind::floor, size));
  const Known near = f.select(f.compare(part, half, "gt"), f.sub(one, part), part);
  const Known sine = f.op(OpKind::sin, f.mul(f.number(std::numbers::pi), near));
  const Known log_sine = f.op(OpKind::log, sine);
  const Known mirrored = f.sub(f.sub(f.number(std::log(std::numbers::pi)), log_sine), direct);
  const Known infinite = f.number(std::numeric_limits<double>::infinity());
  const Known pole = f.compare(near, f.number(0), "eq");
  const Known below = f.select(pole, infinite, mirrored);
  const Known y = f.select(reflects, below, direct);
  return f.select(f.compare(size, infinite, "eq"), infinite, y);
}

// The derivative of log gamma; below 0.5, digamma(z) = digamma(1 - z) - pi / tan(pi z).
Known digamma(Formula& f, const OpSite& s, const Known& z) {
  const Known half = f.number(0.5);
  const Known reflects = f.compare(z, half, "lt");
  const Known x = f.select(reflects, f.op(OpKind::neg, z), f.sub(z, f.number(1)));
  Known above = f.number(0);
  Known below = f.number(kLanczosBase);
  double term = 1;
  for (const double c : kLanczos) {
    const Known under = f.add(x, f.number(term));
    const Known part = f.div(f.number(c), under);
    above = f.sub(above, f.div(part, under));
    below = f.add(below, part);
    term += 1;
  }
  const Known t = f.add(x, f.number(kLanczosShift));
  const Known series = f.sub(f.div(above, below), f.div(f.number(7), t));
  const Known direct = f.add(log_shifted(f, s, x), series);
  // tan(pi z) has period 1 in z, so the nearest integer is subtracted first.
  const Known nearest = f.op(OpKind::floor, f.add(z, half));
  const Known angle = f.mul(f.number(std::numbers::pi), f.sub(z, nearest));
  const Known ratio = f.div(f.op(OpKind::cos, angle), f.op(OpKind::sin, angle));
  const Known mirrored = f.sub(direct, f.mul(f.number(std::numbers::pi), ratio));
  const Known pole = f.op(OpKind::logical_and, f.compare(z, f.number(0), "le"),
                          f.compare(z, f.op(OpKind::floor, z), "eq"));
  const Known nan = f.number(std::numeric_limits<double>::quiet_NaN());
  return f.select(pole, nan, f.select(reflects, mirrored, direct));
}

// 16-bit floats are computed in f32.
Expected<void> emit_gamma(const OpSite& s) {
  const std::string& own = s.in(0).type.element;
  const std::string element = own == "f64" ? "f64" : "f32";
  Formula f(s.emitter, tensor_type(element, s.in(0).type.dims));
  const Known z = f.cast(s.in(0), element);
  const Known y = s.op.name == "chlo.lgamma" ? log_gamma(f, s, z) : digamma(f, s, z);
  return f.give(s, f.cast(y, own));
}

// Hurwitz's zeta(x, q), the sum of (q + k)^-x: ten terms, then Euler and Maclaurin's formula with
// Bernoulli's numbers, B(2j) / (2j)! = 1/12, -1/720, .. . Not defined for x < 1.
Known hurwitz_zeta(Formula& f, const Known& x, const Known& q) {
  constexpr int kTerms = 10;
  const Known one = f.number(1);
  const Known minus_x = f.op(OpKind::neg, x);
  Known sum = f.op(OpKind::pow, q, minus_x);
  for (int k = 1; k < kTerms; ++k)
    sum = f.add(sum, f.op(OpKind::pow, f.add(q, f.number(k)), minus_x));
  const Known end = f.add(q, f.number(kTerms));
  const Known power = f.op(OpKind::pow, end, minus_x);
  sum = f.add(sum, f.div(f.mul(power, end), f.sub(x, one)));
  sum = f.add(sum, f.mul(power, f.number(0.5)));
  const Known square = f.mul(end, end);
  Known factor = f.mul(f.div(power, end), x);  // x (x + 1) .. (x + 2j - 2) end^(1 - x - 2j)
  double next = 1;
  for (const double b : {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160,
                         -691.0 / 1307674368000, 1.0 / 74724249600}) {
    sum = f.add(sum, f.mul(factor, f.number(b)));
    const Known more = f.mul(f.add(x, f.number(next)), f.add(x, f.number(next + 1)));
    factor = f.div(f.mul(factor, more), square);
    next += 2;
  }
  const Known pole = f.op(OpKind::logical_and, f.compare(q, f.number(0), "le"),
                          f.compare(q, f.op(OpKind::floor, q), "eq"));
  const Known infinity = f.number(std::numeric_limits<double>::infinity());
  sum = f.select(pole, infinity, sum);
  const Known nan = f.number(std::numeric_limits<double>::quiet_NaN());
  sum = f.select(f.compare(x, one, "lt"), nan, sum);
  return f.select(f.compare(x, one, "eq"), infinity, sum);
}

Expected<void> emit_zeta(const OpSite& s) {
  Formula f(s);
  return f.give(s, hurwitz_zeta(f, s.in(0), s.in(1)));
}

// (-1)^(n + 1) n! zeta(n + 1, x), and digamma(x) for n = 0.
Expected<void> emit_polygamma(const OpSite& s) {
  Formula f(s);
  const Known& n = s.in(0);
  const Known& x = s.in(1);
  const Known one = f.number(1);
  const Known next = f.add(n, one);
  const Known size = f.op(OpKind::exp, f.call(s, "chlo.lgamma", next));
  const Known value = f.mul(size, hurwitz_zeta(f, next, x));
  const Known half = f.mul(n, f.number(0.5));
  const Known even = f.compare(half, f.op(OpKind::floor, half), "eq");
  const Known sign = f.select(even, f.number(-1), one);
  const Known first = f.call(s, "chlo.digamma", x);
  return f.give(s, f.select(f.compare(n, f.number(0), "eq"), first, f.mul(sign, value)));
}

constexpr HandlerRow kSpecialRows[] = {
    {"chlo.zeta", emit_zeta, 2},
    {"chlo.polygamma", emit_polygamma, 2},
    {"stablehlo.atan2", emit_atan2, 2},
    {"chlo.atan", emit_atan},
    {"chlo.asin", emit_arc},
    {"chlo.acos", emit_arc},
    {"chlo.sinh", emit_hyperbolic},
    {"chlo.cosh", emit_hyperbolic},
    {"chlo.asinh", emit_area},
    {"chlo.acosh", emit_area},
    {"chlo.atanh", emit_area},
    {"chlo.erfc", emit_erfc},
    {"chlo.lgamma", emit_gamma},
    {"chlo.digamma", emit_gamma},
    {"chlo.erf_inv", emit_erf_inv},
    {"chlo.bessel_i1e", emit_bessel_i1e},
    {"chlo.is_inf", emit_is_inf},
    {"chlo.is_pos_inf", emit_is_inf},
    {"chlo.is_neg_inf", emit_is_inf},
};

}  // namespace

std::span<const HandlerRow> special_handlers() { return kSpecialRows; }

}  // namespace hostir::importer
