// Functions and bit operations that the language lacks, written with those that it has.

#include <cmath>
#include <limits>
#include <numbers>

#include "hostir/import/handlers.h"
#include "hostir/ops/record.h"

namespace hostir::importer {

namespace {

// Arithmetic on values of one type, so that formulas read as such. Keeps the first error.
class Formula {
 public:
  explicit Formula(const OpSite& s) : e_(s.emitter), type_(s.in(0).type) {}

  Known number(double value) { return e_.number(value, type_); }
  Known integer(int64_t value) { return e_.integer(value, type_); }
  Known op(OpKind kind, const Known& a) { return kept(e_.apply(kind, {a})); }
  Known op(OpKind kind, const Known& a, const Known& b) { return kept(e_.apply(kind, {a, b})); }
  Known add(const Known& a, const Known& b) { return op(OpKind::add, a, b); }
  Known sub(const Known& a, const Known& b) { return op(OpKind::sub, a, b); }
  Known mul(const Known& a, const Known& b) { return op(OpKind::mul, a, b); }
  Known div(const Known& a, const Known& b) { return op(OpKind::div, a, b); }
  Known abs(const Known& a) { return op(OpKind::abs, a); }
  Known sqrt(const Known& a) { return op(OpKind::sqrt, a); }
  Known compare(const Known& a, const Known& b, const char* direction) {
    return failed_ ? a : kept(e_.compared(a, b, direction));
  }
  Known select(const Known& pred, const Known& a, const Known& b) {
    return failed_ ? a : kept(e_.apply(OpKind::select, {pred, a, b}));
  }
  Known cast(const Known& a, const std::string& element) {
    return failed_ ? a : kept(e_.cast(a, element));
  }
  /// Another operation of the module with the same type.
  Known call(const OpSite& s, std::string_view name, const Known& a) {
    if (failed_) return a;
    Frame frame = {a, std::nullopt};
    ModuleFunction function;
    function.values.resize(2);
    function.values[0].type = a.type;
    function.values[1].type = a.type;
    ModuleOp op;
    op.name = name;
    op.span = s.op.span;
    op.operands = {0};
    op.results = {1};
    auto done = find_handler(name)->handler(OpSite{e_, function, op, frame});
    if (!done) {
      failed_ = std::move(done.error());
      return a;
    }
    return *frame[1];
  }
  /// c[0] + c[1] x + c[2] x^2 + ..
  Known polynomial(const Known& x, std::initializer_list<double> c) {
    Known y = number(*(c.end() - 1));
    for (size_t i = c.size() - 1; i-- > 0;) y = add(mul(y, x), number(*(c.begin() + i)));
    return y;
  }
  Expected<void> give(const OpSite& s, Known y) {
    if (failed_) return tl::unexpected(std::move(*failed_));
    return s.set(std::move(y));
  }

 private:
  Known kept(Expected<Known> y) {
    if (y) return std::move(*y);
    if (!failed_) failed_ = std::move(y.error());
    return number(0);
  }

  Emitter& e_;
  ModuleType type_;
  std::optional<Error> failed_;
};

// The angle of (x, y). The quotient is brought to [-tan(pi/8), tan(pi/8)], where a polynomial is
// within 2 ulp of f32 (Cephes); in f64 one step of Newton's method follows.
Known angle(Formula& f, const Known& y, const Known& x) {
  const Known size_x = f.abs(x);
  const Known size_y = f.abs(y);
  const Known steep = f.compare(size_y, size_x, "gt");
  const Known low = f.select(steep, size_x, size_y);
  const Known high = f.select(steep, size_y, size_x);
  const Known origin = f.compare(high, f.number(0), "eq");
  const Known t = f.select(origin, f.number(0), f.div(low, high));
  const Known one = f.number(1);
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
  const Known left = f.compare(x, f.number(0), "lt");
  angle = f.select(left, f.sub(f.number(std::numbers::pi), angle), angle);
  return f.select(f.compare(y, f.number(0), "lt"), f.op(OpKind::neg, angle), angle);
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

Expected<void> emit_is_inf(const OpSite& s) {
  Formula f(s);
  const double infinity = std::numeric_limits<double>::infinity();
  const bool both = s.op.name == "chlo.is_inf";
  return f.give(s,
                f.compare(both ? f.abs(s.in(0)) : s.in(0),
                          f.number(s.op.name == "chlo.is_neg_inf" ? -infinity : infinity), "eq"));
}

// Counts bits in parallel: in pairs, in groups of four, then bytes. Leading zeros are the ones of
// the complement after every bit below the highest one is set.
Expected<void> emit_count_bits(const OpSite& s) {
  const int64_t width = 8 * size_bytes(*s.in(0).type.dtype());
  const std::string wide = width == 64 ? "ui64" : "ui32";
  Emitter& e = s.emitter;
  HOSTIR_ASSIGN_OR_RETURN(const Known x, e.cast(s.in(0), "ui" + std::to_string(width)));
  HOSTIR_ASSIGN_OR_RETURN(Known v, e.cast(x, wide));
  const auto shifted_right = [&](const Known& a, int64_t by) {
    return e.apply(OpKind::shift_right, {a, e.integer(by, a.type)});
  };
  const auto masked = [&](const Known& a, uint64_t mask) {
    if (width != 64) mask &= 0xFFFFFFFFU;
    return e.apply(OpKind::bit_and, {a, e.integer(static_cast<int64_t>(mask), a.type)});
  };
  const bool leading = s.op.name == "stablehlo.count_leading_zeros";
  for (int64_t by = 1; leading && by < width; by *= 2) {
    HOSTIR_ASSIGN_OR_RETURN(const Known lower, shifted_right(v, by));
    HOSTIR_ASSIGN_OR_RETURN(v, e.apply(OpKind::bit_or, {v, lower}));
  }
  static constexpr uint64_t kMasks[] = {0x5555555555555555U, 0x3333333333333333U,
                                        0x0F0F0F0F0F0F0F0FU, 0x00FF00FF00FF00FFU,
                                        0x0000FFFF0000FFFFU, 0x00000000FFFFFFFFU};
  int64_t by = 1;
  for (const uint64_t mask : kMasks) {
    if (by >= (width == 64 ? 64 : 32)) break;
    HOSTIR_ASSIGN_OR_RETURN(const Known low, masked(v, mask));
    HOSTIR_ASSIGN_OR_RETURN(const Known moved, shifted_right(v, by));
    HOSTIR_ASSIGN_OR_RETURN(const Known high, masked(moved, mask));
    HOSTIR_ASSIGN_OR_RETURN(v, e.apply(OpKind::add, {low, high}));
    by *= 2;
  }
  if (leading) {
    HOSTIR_ASSIGN_OR_RETURN(v, e.apply(OpKind::sub, {e.integer(width, v.type), v}));
  }
  HOSTIR_ASSIGN_OR_RETURN(Known y, e.cast(v, s.result_type().element));
  return s.set(std::move(y));
}

int64_t bits_of(const std::string& element) {
  const auto dtype = tensor_type(element, {}).dtype();
  return dtype ? 8 * size_bytes(*dtype) : 0;
}

// The same bits under another element type of the same size.
Expected<Known> renamed(Emitter& e, const Known& x, const std::string& element) {
  if (x.type.element == element) return x;
  HOSTIR_ASSIGN_OR_RETURN(const TensorType to, our_type(tensor_type(element, {}), e.place()));
  const bool integers = !is_float(*x.type.dtype()) && !is_float(to.dtype);
  Attributes attributes;
  attributes.set("to", to.dtype);
  if (!integers) attributes.set("bits", true);
  return e.apply(OpKind::cast, {x}, std::move(attributes));
}

// Between sizes, a last dimension holds the parts of each wide element, the lowest first.
Expected<void> emit_bitcast_convert(const OpSite& s) {
  Emitter& e = s.emitter;
  const std::string& to = s.result_type().element;
  const int64_t from_bits = bits_of(s.in(0).type.element);
  const int64_t to_bits = bits_of(to);
  if (from_bits == 0 || to_bits == 0 || to == "i1" || s.in(0).type.element == "i1")
    return s.emitter.opaque(s, "bits of an element type that is no dtype");
  if (from_bits == to_bits) {
    HOSTIR_ASSIGN_OR_RETURN(Known y, renamed(e, s.in(0), to));
    return s.set(std::move(y));
  }
  const std::string wide = "ui" + std::to_string(std::max(from_bits, to_bits));
  const std::string narrow = "ui" + std::to_string(std::min(from_bits, to_bits));
  const int64_t step = std::min(from_bits, to_bits);
  const int64_t count = std::max(from_bits, to_bits) / step;
  HOSTIR_ASSIGN_OR_RETURN(const Known x, renamed(e, s.in(0), "ui" + std::to_string(from_bits)));
  if (from_bits > to_bits) {
    std::vector<int64_t> dims = x.type.dims;
    dims.push_back(1);
    std::vector<Known> parts;
    for (int64_t i = 0; i < count; ++i) {
      HOSTIR_ASSIGN_OR_RETURN(const Known moved,
                              e.apply(OpKind::shift_right, {x, e.integer(i * step, x.type)}));
      HOSTIR_ASSIGN_OR_RETURN(const Known low, e.cast(moved, narrow));
      HOSTIR_ASSIGN_OR_RETURN(Known part, e.reshaped(low, dims));
      parts.push_back(std::move(part));
    }
    HOSTIR_ASSIGN_OR_RETURN(const Known joined, e.concatenated(std::move(parts), dims.size() - 1));
    HOSTIR_ASSIGN_OR_RETURN(Known y, renamed(e, joined, to));
    return s.set(std::move(y));
  }
  if (x.type.dims.empty() || x.type.dims.back() != count)
    return s.fail("import_c2", "the last dimension is not the ratio of the sizes");
  HOSTIR_ASSIGN_OR_RETURN(const Known apart, e.cast(x, wide));
  std::optional<Known> whole;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int64_t> start(x.type.dims.size(), 0);
    std::vector<int64_t> limit = x.type.dims;
    start.back() = i;
    limit.back() = i + 1;
    HOSTIR_ASSIGN_OR_RETURN(const Known column,
                            e.sliced(apart, start, limit, std::vector<int64_t>(start.size(), 1)));
    HOSTIR_ASSIGN_OR_RETURN(const Known flat, e.reshaped(column, s.result_type().dims));
    HOSTIR_ASSIGN_OR_RETURN(Known part,
                            e.apply(OpKind::shift_left, {flat, e.integer(i * step, flat.type)}));
    if (whole) {
      HOSTIR_ASSIGN_OR_RETURN(part, e.apply(OpKind::bit_or, {*whole, part}));
    }
    whole = std::move(part);
  }
  HOSTIR_ASSIGN_OR_RETURN(Known y, renamed(e, *whole, to));
  return s.set(std::move(y));
}

constexpr HandlerRow kSpecialRows[] = {
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
    {"chlo.erf_inv", emit_erf_inv},
    {"chlo.is_inf", emit_is_inf},
    {"chlo.is_pos_inf", emit_is_inf},
    {"chlo.is_neg_inf", emit_is_inf},
    {"stablehlo.popcnt", emit_count_bits},
    {"stablehlo.count_leading_zeros", emit_count_bits},
};

constexpr HandlerRow kBitcastRows[] = {{"stablehlo.bitcast_convert", emit_bitcast_convert}};

}  // namespace

std::span<const HandlerRow> special_handlers() { return kSpecialRows; }
std::span<const HandlerRow> bitcast_handlers() { return kBitcastRows; }

}  // namespace hostir::importer
