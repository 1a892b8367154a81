// Pointwise operations.

#include <array>
#include <bit>
#include <limits>

#include "hostir/import/emit/formula.h"
#include "hostir/import/emit/handlers.h"
#include "hostir/ops/record.h"

namespace hostir::importer {

namespace {

struct Counterpart {
  std::string_view name;
  OpKind kind;
};

constexpr std::array kSame = {
    Counterpart{"stablehlo.add", OpKind::add},
    Counterpart{"stablehlo.subtract", OpKind::sub},
    Counterpart{"stablehlo.multiply", OpKind::mul},
    Counterpart{"stablehlo.divide", OpKind::div},
    Counterpart{"stablehlo.power", OpKind::pow},
    Counterpart{"stablehlo.maximum", OpKind::maximum},
    Counterpart{"stablehlo.minimum", OpKind::minimum},
    Counterpart{"stablehlo.negate", OpKind::neg},
    Counterpart{"stablehlo.abs", OpKind::abs},
    Counterpart{"stablehlo.sign", OpKind::sign},
    Counterpart{"stablehlo.floor", OpKind::floor},
    Counterpart{"stablehlo.exponential", OpKind::exp},
    Counterpart{"stablehlo.log", OpKind::log},
    Counterpart{"stablehlo.sqrt", OpKind::sqrt},
    Counterpart{"stablehlo.rsqrt", OpKind::rsqrt},
    Counterpart{"stablehlo.sine", OpKind::sin},
    Counterpart{"stablehlo.cosine", OpKind::cos},
    Counterpart{"stablehlo.tanh", OpKind::tanh},
    Counterpart{"stablehlo.logistic", OpKind::sigmoid},
    Counterpart{"chlo.erf", OpKind::erf},
};

bool is_bool(const Known& x) { return x.type.element == "i1"; }

bool is_real(const Known& x) {
  const auto dtype = x.type.dtype();
  return dtype && is_float(*dtype);
}

// An op that exists only in some versions of the language; nullopt if it is missing.
std::optional<OpKind> newer_op(std::string_view mnemonic) { return find_op(mnemonic); }

Expected<void> emit_same(const OpSite& s) {
  for (const Counterpart& row : kSame) {
    if (row.name != s.op.name) continue;
    std::vector<Known> operands;
    for (size_t i = 0; i < s.count(); ++i) operands.push_back(s.in(i));
    HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.apply_list(row.kind, std::move(operands)));
    return s.set(std::move(y));
  }
  return s.fail("import_c2", "has no counterpart");
}

// Modulo 2^bits for unsigned integers.
Expected<void> emit_negate(const OpSite& s) {
  const auto dtype = s.in(0).type.dtype();
  if (!dtype || !is_unsigned(*dtype)) return emit_same(s);
  HOSTIR_ASSIGN_OR_RETURN(
      Known y, s.emitter.apply(OpKind::sub, {s.emitter.integer(0, s.in(0).type), s.in(0)}));
  return s.set(std::move(y));
}

// StableHLO arithmetic on i1 is boolean logic.
Expected<void> emit_arithmetic(const OpSite& s) {
  if (!is_bool(s.in(0))) return emit_same(s);
  const bool either = s.op.name == "stablehlo.add" || s.op.name == "stablehlo.maximum";
  HOSTIR_ASSIGN_OR_RETURN(
      Known y,
      s.emitter.apply(either ? OpKind::logical_or : OpKind::logical_and, {s.in(0), s.in(1)}));
  return s.set(std::move(y));
}

Expected<void> emit_bits(const OpSite& s) {
  const std::string_view name = s.op.name;
  if (name != "stablehlo.not" && s.count() != 2) return s.fail("import_c2", "takes 2 operands");
  if (is_bool(s.in(0))) {
    if (name == "stablehlo.xor") {
      HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.compared(s.in(0), s.in(1), "ne"));
      return s.set(std::move(y));
    }
    if (name == "stablehlo.not") {
      HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.apply(OpKind::logical_not, {s.in(0)}));
      return s.set(std::move(y));
    }
    const OpKind kind = name == "stablehlo.and" ? OpKind::logical_and : OpKind::logical_or;
    HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.apply(kind, {s.in(0), s.in(1)}));
    return s.set(std::move(y));
  }
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kNames = {
      {{"stablehlo.and", "bit_and"},
       {"stablehlo.or", "bit_or"},
       {"stablehlo.xor", "bit_xor"},
       {"stablehlo.not", "bit_not"}}};
  for (const auto& [theirs, ours] : kNames) {
    const auto kind = newer_op(ours);
    if (theirs != name || !kind) continue;
    std::vector<Known> operands;
    for (size_t i = 0; i < s.count(); ++i) operands.push_back(s.in(i));
    HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.apply_list(*kind, std::move(operands)));
    return s.set(std::move(y));
  }
  if (name == "stablehlo.not") {  // -1 - x in two's complement
    HOSTIR_ASSIGN_OR_RETURN(
        Known y, s.emitter.apply(OpKind::sub, {s.emitter.integer(-1, s.in(0).type), s.in(0)}));
    return s.set(std::move(y));
  }
  return s.emitter.opaque(s, "bit operations on integers");
}

// `shift_right` is arithmetic for signed types and logical for unsigned ones; the opposite shift
// uses the type of the opposite signedness.
Expected<void> emit_shift(const OpSite& s) {
  Emitter& e = s.emitter;
  const bool left = s.op.name == "stablehlo.shift_left";
  const auto kind = newer_op(left ? "shift_left" : "shift_right");
  const auto dtype = s.in(0).type.dtype();
  if (!kind || !dtype || !is_integer(*dtype)) return e.opaque(s, "shifts of integers");
  Known x = s.in(0);
  Known by = s.in(1);
  const std::string own = x.type.element;
  const bool logical = s.op.name == "stablehlo.shift_right_logical";
  const bool crosses = !left && logical != is_unsigned(*dtype);
  if (crosses) {
    const std::string other = is_unsigned(*dtype) ? own.substr(1) : "u" + own;
    HOSTIR_ASSIGN_OR_RETURN(x, e.cast(x, other));
    HOSTIR_ASSIGN_OR_RETURN(by, e.cast(by, other));
  }
  HOSTIR_ASSIGN_OR_RETURN(Known y, e.apply(*kind, {x, by}));
  if (crosses) {
    HOSTIR_ASSIGN_OR_RETURN(y, e.cast(y, own));
  }
  return s.set(std::move(y));
}

// Integers in the order of the bits of floats: -NaN, -inf, .., -0, 0, .., inf, NaN.
Expected<Known> ordered_bits(const OpSite& s, const Known& x) {
  const int64_t width = 8 * size_bytes(*x.type.dtype());
  const std::string element = "i" + std::to_string(width);
  Formula f(s.emitter, tensor_type(element, x.type.dims));
  const Known bits = f.bits(x, element);
  const Known negative = f.shifted_right(bits, width - 1);
  const uint64_t magnitude = (uint64_t{1} << (width - 1)) - 1;
  return f.result(f.bit_xor(bits, f.bit_and(negative, f.integer(magnitude))));
}

Expected<void> emit_compare(const OpSite& s) {
  Known left = s.in(0);
  Known right = s.in(1);
  if (orders_totally(s.op) && is_real(left) && is_real(right)) {
    HOSTIR_ASSIGN_OR_RETURN(left, ordered_bits(s, left));
    HOSTIR_ASSIGN_OR_RETURN(right, ordered_bits(s, right));
  }
  std::string direction(s.op.word("comparison_direction"));
  if (direction.empty()) direction = s.op.word("word");
  for (char& c : direction) c = static_cast<char>(c | 0x20);
  HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.compared(left, right, std::move(direction)));
  return s.set(std::move(y));
}

// The predicate may be a scalar for all elements.
Expected<void> emit_select(const OpSite& s) {
  Known pred = s.in(0);
  if (pred.type.dims != s.in(1).type.dims) {
    HOSTIR_ASSIGN_OR_RETURN(pred, s.emitter.broadcast(pred, {}, s.in(1).type.dims));
  }
  HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.apply(OpKind::select, {pred, s.in(1), s.in(2)}));
  return s.set(std::move(y));
}

Expected<Known> to_shape_of(const OpSite& s, const Known& bound, const Known& like) {
  return bound.type.dims == like.type.dims ? bound : s.emitter.broadcast(bound, {}, like.type.dims);
}

Expected<void> emit_clamp(const OpSite& s) {
  HOSTIR_ASSIGN_OR_RETURN(const Known low, to_shape_of(s, s.in(0), s.in(1)));
  HOSTIR_ASSIGN_OR_RETURN(const Known high, to_shape_of(s, s.in(2), s.in(1)));
  HOSTIR_ASSIGN_OR_RETURN(const Known above, s.emitter.apply(OpKind::maximum, {s.in(1), low}));
  HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.apply(OpKind::minimum, {above, high}));
  return s.set(std::move(y));
}

Expected<void> emit_convert(const OpSite& s) {
  const Known& x = s.in(0);
  const std::string& to = s.result_type().element;
  Known y;
  if (to == "i1" && !is_bool(x)) {  // any nonzero value is true
    HOSTIR_ASSIGN_OR_RETURN(y, s.emitter.compared(x, s.emitter.number(0, x.type), "ne"));
  } else {
    const bool widens = x.type.element == "bf16" && to == "f32";
    HOSTIR_ASSIGN_OR_RETURN(y, widens ? s.emitter.widened(x) : s.emitter.cast(x, to));
  }
  return s.set(std::move(y));
}

// How many bits of an integer's exponents may be set.
int64_t exponent_bits(const Known& exponent) {
  const DType dtype = *exponent.type.dtype();
  if (exponent.is_number() && exponent.number->element_count() == 1 && !is_unsigned(dtype)) {
    const int64_t n = exponent.number->get_int(0);
    return n < 0 ? 1 : static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(n)));
  }
  return 8 * size_bytes(dtype) - (is_unsigned(dtype) ? 0 : 1);
}

// Integers are raised by squaring, modulo 2^bits. A negative power is 0, except of 1 and -1.
Expected<void> emit_power(const OpSite& s) {
  const Known& base = s.in(0);
  const Known& exponent = s.in(1);
  if (is_real(base) || is_bool(base) || !base.type.dtype()) return emit_same(s);
  Formula f(s);
  const Known zero = f.integer(int64_t{0});
  const Known one = f.integer(int64_t{1});
  const auto has_bit = [&](int64_t bit) {
    return f.compare(f.bit_and(f.shifted_right(exponent, bit), one), zero, "ne");
  };
  Known power = one;
  Known square = base;
  const int64_t bits = exponent_bits(exponent);
  for (int64_t bit = 0; bit < bits; ++bit) {
    if (bit > 0) square = f.mul(square, square);
    power = f.select(has_bit(bit), f.mul(power, square), power);
  }
  if (is_unsigned(*base.type.dtype())) return f.give(s, power);
  const Known minus = f.integer(int64_t{-1});
  const Known of_one = f.select(f.compare(base, one, "eq"), one, zero);
  const Known of_minus = f.select(has_bit(0), minus, one);
  const Known inverse = f.select(f.compare(base, minus, "eq"), of_minus, of_one);
  return f.give(s, f.select(f.compare(exponent, zero, "lt"), inverse, power));
}

Expected<void> emit_ceil(const OpSite& s) {
  HOSTIR_ASSIGN_OR_RETURN(const Known negative, s.emitter.apply(OpKind::neg, {s.in(0)}));
  HOSTIR_ASSIGN_OR_RETURN(const Known down, s.emitter.apply(OpKind::floor, {negative}));
  HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.apply(OpKind::neg, {down}));
  return s.set(std::move(y));
}

// Rounds towards zero.
Expected<Known> truncated(Emitter& e, const Known& x) {
  HOSTIR_ASSIGN_OR_RETURN(const Known size, e.apply(OpKind::abs, {x}));
  HOSTIR_ASSIGN_OR_RETURN(const Known whole, e.apply(OpKind::floor, {size}));
  HOSTIR_ASSIGN_OR_RETURN(const Known sign, e.apply(OpKind::sign, {x}));
  return e.apply(OpKind::mul, {sign, whole});
}

// a - b * trunc(a / b): exact for integers; for floats, as exact as the quotient.
Expected<void> emit_remainder(const OpSite& s) {
  Emitter& e = s.emitter;
  Known y;
  if (const auto kind = newer_op("rem")) {
    HOSTIR_ASSIGN_OR_RETURN(y, e.apply(*kind, {s.in(0), s.in(1)}));
    return s.set(std::move(y));
  }
  HOSTIR_ASSIGN_OR_RETURN(Known quotient, e.apply(OpKind::div, {s.in(0), s.in(1)}));
  if (is_real(s.in(0))) {
    HOSTIR_ASSIGN_OR_RETURN(quotient, truncated(e, quotient));
  }
  HOSTIR_ASSIGN_OR_RETURN(const Known whole, e.apply(OpKind::mul, {quotient, s.in(1)}));
  HOSTIR_ASSIGN_OR_RETURN(y, e.apply(OpKind::sub, {s.in(0), whole}));
  return s.set(std::move(y));
}

// Rounds to the nearest integer; ties go to even or away from zero.
Expected<void> emit_round(const OpSite& s) {
  Emitter& e = s.emitter;
  const Known& x = s.in(0);
  HOSTIR_ASSIGN_OR_RETURN(const Known size, e.apply(OpKind::abs, {x}));
  HOSTIR_ASSIGN_OR_RETURN(const Known down, e.apply(OpKind::floor, {size}));
  HOSTIR_ASSIGN_OR_RETURN(const Known rest, e.apply(OpKind::sub, {size, down}));
  HOSTIR_ASSIGN_OR_RETURN(const Known up, e.apply(OpKind::add, {down, e.number(1, x.type)}));
  const Known half = e.number(0.5, x.type);
  HOSTIR_ASSIGN_OR_RETURN(const Known more, e.compared(rest, half, "gt"));
  HOSTIR_ASSIGN_OR_RETURN(const Known tie, e.compared(rest, half, "eq"));
  Known tie_up = tie;
  if (s.op.name == "stablehlo.round_nearest_even") {  // up if `down` is odd
    HOSTIR_ASSIGN_OR_RETURN(const Known halved, e.apply(OpKind::mul, {down, half}));
    HOSTIR_ASSIGN_OR_RETURN(const Known floored, e.apply(OpKind::floor, {halved}));
    HOSTIR_ASSIGN_OR_RETURN(const Known odd, e.compared(floored, halved, "ne"));
    HOSTIR_ASSIGN_OR_RETURN(tie_up, e.apply(OpKind::logical_and, {tie, odd}));
  }
  HOSTIR_ASSIGN_OR_RETURN(const Known goes_up, e.apply(OpKind::logical_or, {more, tie_up}));
  HOSTIR_ASSIGN_OR_RETURN(const Known rounded, e.apply(OpKind::select, {goes_up, up, down}));
  HOSTIR_ASSIGN_OR_RETURN(const Known sign, e.apply(OpKind::sign, {x}));
  HOSTIR_ASSIGN_OR_RETURN(Known y, e.apply(OpKind::mul, {sign, rounded}));
  return s.set(std::move(y));
}

// exp(x) - 1 = 2 t / (1 - t) with t = tanh(x / 2), which is accurate near 0; the plain form
// above 1.
Expected<void> emit_expm1(const OpSite& s) {
  Emitter& e = s.emitter;
  const Known& x = s.in(0);
  HOSTIR_ASSIGN_OR_RETURN(const Known half, e.apply(OpKind::mul, {x, e.number(0.5, x.type)}));
  HOSTIR_ASSIGN_OR_RETURN(const Known t, e.apply(OpKind::tanh, {half}));
  HOSTIR_ASSIGN_OR_RETURN(const Known twice, e.apply(OpKind::add, {t, t}));
  HOSTIR_ASSIGN_OR_RETURN(const Known below, e.apply(OpKind::sub, {e.number(1, x.type), t}));
  HOSTIR_ASSIGN_OR_RETURN(const Known near, e.apply(OpKind::div, {twice, below}));
  HOSTIR_ASSIGN_OR_RETURN(const Known power, e.apply(OpKind::exp, {x}));
  HOSTIR_ASSIGN_OR_RETURN(const Known far, e.apply(OpKind::sub, {power, e.number(1, x.type)}));
  HOSTIR_ASSIGN_OR_RETURN(const Known size, e.apply(OpKind::abs, {x}));
  HOSTIR_ASSIGN_OR_RETURN(const Known is_near, e.compared(size, e.number(1, x.type), "lt"));
  HOSTIR_ASSIGN_OR_RETURN(Known y, e.apply(OpKind::select, {is_near, near, far}));
  return s.set(std::move(y));
}

// log(1 + x) = x * log(u) / (u - 1) where u is 1 + x rounded; x if u is 1; the plain form for
// infinity.
Expected<void> emit_log1p(const OpSite& s) {
  Emitter& e = s.emitter;
  const Known& x = s.in(0);
  const Known one = e.number(1, x.type);
  HOSTIR_ASSIGN_OR_RETURN(const Known u, e.apply(OpKind::add, {x, one}));
  HOSTIR_ASSIGN_OR_RETURN(const Known log, e.apply(OpKind::log, {u}));
  HOSTIR_ASSIGN_OR_RETURN(const Known less, e.apply(OpKind::sub, {u, one}));
  HOSTIR_ASSIGN_OR_RETURN(const Known product, e.apply(OpKind::mul, {log, x}));
  HOSTIR_ASSIGN_OR_RETURN(const Known exact, e.apply(OpKind::div, {product, less}));
  HOSTIR_ASSIGN_OR_RETURN(const Known tiny, e.compared(u, one, "eq"));
  HOSTIR_ASSIGN_OR_RETURN(const Known near, e.apply(OpKind::select, {tiny, x, exact}));
  HOSTIR_ASSIGN_OR_RETURN(const Known size, e.apply(OpKind::abs, {x}));
  HOSTIR_ASSIGN_OR_RETURN(const Known is_near, e.compared(size, one, "lt"));
  HOSTIR_ASSIGN_OR_RETURN(Known y, e.apply(OpKind::select, {is_near, near, log}));
  return s.set(std::move(y));
}

Expected<void> emit_tan(const OpSite& s) {
  HOSTIR_ASSIGN_OR_RETURN(const Known sine, s.emitter.apply(OpKind::sin, {s.in(0)}));
  HOSTIR_ASSIGN_OR_RETURN(const Known cosine, s.emitter.apply(OpKind::cos, {s.in(0)}));
  HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.apply(OpKind::div, {sine, cosine}));
  return s.set(std::move(y));
}

Expected<void> emit_cbrt(const OpSite& s) {
  Emitter& e = s.emitter;
  HOSTIR_ASSIGN_OR_RETURN(const Known size, e.apply(OpKind::abs, {s.in(0)}));
  HOSTIR_ASSIGN_OR_RETURN(const Known root,
                          e.apply(OpKind::pow, {size, e.number(1.0 / 3.0, size.type)}));
  HOSTIR_ASSIGN_OR_RETURN(const Known sign, e.apply(OpKind::sign, {s.in(0)}));
  HOSTIR_ASSIGN_OR_RETURN(Known y, e.apply(OpKind::mul, {sign, root}));
  return s.set(std::move(y));
}

Expected<void> emit_is_finite(const OpSite& s) {
  HOSTIR_ASSIGN_OR_RETURN(const Known size, s.emitter.apply(OpKind::abs, {s.in(0)}));
  const Known bound = s.emitter.number(std::numeric_limits<double>::infinity(), size.type);
  HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.compared(size, bound, "lt"));
  return s.set(std::move(y));
}

Expected<void> emit_square(const OpSite& s) {
  HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.apply(OpKind::mul, {s.in(0), s.in(0)}));
  return s.set(std::move(y));
}

constexpr HandlerRow kPointwiseRows[] = {
    {"stablehlo.add", emit_arithmetic, 2},
    {"stablehlo.multiply", emit_arithmetic, 2},
    {"stablehlo.maximum", emit_arithmetic, 2},
    {"stablehlo.minimum", emit_arithmetic, 2},
    {"stablehlo.subtract", emit_same},
    {"stablehlo.divide", emit_same},
    {"stablehlo.power", emit_power, 2},
    {"stablehlo.negate", emit_negate},
    {"stablehlo.abs", emit_same},
    {"stablehlo.sign", emit_same},
    {"stablehlo.floor", emit_same},
    {"stablehlo.exponential", emit_same},
    {"stablehlo.log", emit_same},
    {"stablehlo.sqrt", emit_same},
    {"stablehlo.rsqrt", emit_same},
    {"stablehlo.sine", emit_same},
    {"stablehlo.cosine", emit_same},
    {"stablehlo.tanh", emit_same},
    {"stablehlo.logistic", emit_same},
    {"chlo.erf", emit_same},
    {"chlo.square", emit_square},
    {"chlo.tan", emit_tan},
    {"stablehlo.and", emit_bits},
    {"stablehlo.or", emit_bits},
    {"stablehlo.xor", emit_bits},
    {"stablehlo.not", emit_bits},
    {"stablehlo.shift_left", emit_shift, 2},
    {"stablehlo.shift_right_logical", emit_shift, 2},
    {"stablehlo.shift_right_arithmetic", emit_shift, 2},
    {"stablehlo.compare", emit_compare, 2},
    {"stablehlo.select", emit_select, 3},
    {"stablehlo.clamp", emit_clamp, 3},
    {"stablehlo.convert", emit_convert},
    {"stablehlo.ceil", emit_ceil},
    {"stablehlo.remainder", emit_remainder, 2},
    {"stablehlo.round_nearest_even", emit_round},
    {"stablehlo.round_nearest_afz", emit_round},
    {"stablehlo.exponential_minus_one", emit_expm1},
    {"stablehlo.log_plus_one", emit_log1p},
    {"stablehlo.tan", emit_tan},
    {"stablehlo.cbrt", emit_cbrt},
    {"stablehlo.is_finite", emit_is_finite},
};

}  // namespace

std::span<const HandlerRow> pointwise_handlers() { return kPointwiseRows; }

}  // namespace hostir::importer
