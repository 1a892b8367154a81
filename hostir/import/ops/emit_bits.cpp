// Operations on the bits of elements.

#include <charconv>

#include "hostir/import/emit/formula.h"

namespace hostir::importer {

namespace {

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
  if (const int64_t bits = narrow_bits(element)) return bits;
  const auto dtype = tensor_type(element, {}).dtype();
  return dtype ? 8 * size_bytes(*dtype) : 0;
}

// If the element sizes differ, a last dimension holds the parts of each wide element, the lowest
// first.
Expected<void> emit_bitcast_convert(const OpSite& s) {
  Emitter& e = s.emitter;
  const std::string& to = s.result_type().element;
  const int64_t from_bits = bits_of(s.in(0).type.element);
  const int64_t to_bits = bits_of(to);
  if (from_bits == 0 || to_bits == 0 || to == "i1" || s.in(0).type.element == "i1")
    return s.emitter.opaque(s, "bits of an element type that is not a dtype");
  if (from_bits == to_bits) {
    HOSTIR_ASSIGN_OR_RETURN(Known y, same_bits(e, s.in(0), to));
    return s.set(std::move(y));
  }
  const std::string wide = "ui" + std::to_string(std::max(from_bits, to_bits));
  const std::string narrow = "ui" + std::to_string(std::min(from_bits, to_bits));
  const int64_t step = std::min(from_bits, to_bits);
  const int64_t count = std::max(from_bits, to_bits) / step;
  const std::string own = "ui" + std::to_string(from_bits);
  HOSTIR_ASSIGN_OR_RETURN(Known x, same_bits(e, s.in(0), own));
  HOSTIR_ASSIGN_OR_RETURN(x, narrowed(e, x, own));
  if (from_bits > to_bits) {
    std::vector<int64_t> dims = x.type.dims;
    dims.push_back(1);
    std::vector<Known> parts;
    for (int64_t i = 0; i < count; ++i) {
      HOSTIR_ASSIGN_OR_RETURN(const Known moved,
                              e.apply(OpKind::shift_right, {x, e.integer(i * step, x.type)}));
      HOSTIR_ASSIGN_OR_RETURN(Known low, e.cast(moved, narrow));
      HOSTIR_ASSIGN_OR_RETURN(low, narrowed(e, low, narrow));
      HOSTIR_ASSIGN_OR_RETURN(Known part, e.reshaped(low, dims));
      parts.push_back(std::move(part));
    }
    HOSTIR_ASSIGN_OR_RETURN(const Known joined, e.concatenated(std::move(parts), dims.size() - 1));
    HOSTIR_ASSIGN_OR_RETURN(Known y, same_bits(e, joined, to));
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
  HOSTIR_ASSIGN_OR_RETURN(Known y, same_bits(e, *whole, to));
  return s.set(std::move(y));
}

// The next value of the float type after x towards y. Without the sign, bit patterns are ordered
// like magnitudes.
Expected<void> emit_next_after(const OpSite& s) {
  const std::string& own = s.in(0).type.element;
  const int64_t width = bits_of(own);
  const std::string element = "ui" + std::to_string(width);
  const uint64_t sign = uint64_t{1} << (width - 1);
  Formula f(s.emitter, tensor_type(element, s.in(0).type.dims));
  const Known& x = s.in(0);
  const Known& y = s.in(1);
  const Known from = f.bits(x, element);
  const Known to = f.bits(y, element);
  const Known one = f.integer(int64_t{1});
  const Known from_size = f.bit_and(from, f.integer(sign - 1));
  const Known to_size = f.bit_and(to, f.integer(sign - 1));
  const Known to_sign = f.bit_and(to, f.integer(sign));
  const Known opposite = f.compare(f.bit_and(from, f.integer(sign)), to_sign, "ne");
  const Known beyond = f.compare(from_size, to_size, "gt");
  const Known shrinks = f.op(OpKind::logical_or, opposite, beyond);
  const Known moved = f.select(shrinks, f.sub(from, one), f.add(from, one));
  const Known at_zero = f.compare(from_size, f.integer(int64_t{0}), "eq");
  const Known next = f.bits(f.select(at_zero, f.bit_or(to_sign, one), moved), own);
  const Known nan = f.op(OpKind::logical_or, f.compare(x, x, "ne"), f.compare(y, y, "ne"));
  const Known there = f.compare(x, y, "eq");
  return f.give(s, f.select(nan, f.add(x, y), f.select(there, y, next)));
}

struct FloatFormat {
  int64_t exponent = 0;
  int64_t mantissa = 0;
};

// `format = e8m7`, or exponent_bits and mantissa_bits.
FloatFormat format_of(const OpSite& s) {
  FloatFormat out;
  const std::string_view text = s.op.word("format");
  const size_t m = text.find('m');
  if (!text.starts_with('e') || m == std::string_view::npos)
    return {s.op.integer_or("exponent_bits", 0), s.op.integer_or("mantissa_bits", 0)};
  std::from_chars(text.data() + 1, text.data() + m, out.exponent);
  std::from_chars(text.data() + m + 1, text.data() + text.size(), out.mantissa);
  return out;
}

// Rounds the mantissa to the nearest value, ties to even. If the exponent is then too large, the
// result is infinite; if it is too small, zero.
Expected<void> emit_reduce_precision(const OpSite& s) {
  const Known& x = s.in(0);
  const std::string& own = x.type.element;
  const int64_t width = bits_of(own);
  const FloatFormat from = own == "f64"    ? FloatFormat{11, 52}
                           : own == "f32"  ? FloatFormat{8, 23}
                           : own == "bf16" ? FloatFormat{8, 7}
                           : own == "f16"  ? FloatFormat{5, 10}
                                           : FloatFormat{};
  const FloatFormat to = format_of(s);
  if (from.exponent == 0) return s.emitter.opaque(s, "of an element type that is not a wide float");
  if (to.exponent < 1 || to.mantissa < 0)
    return s.fail("import_c2", "needs at least 1 bit of exponent and 0 of mantissa");
  if (to.exponent >= from.exponent && to.mantissa >= from.mantissa) return s.set(x);
  const std::string element = "ui" + std::to_string(width);
  Formula f(s.emitter, tensor_type(element, x.type.dims));
  Known y = f.bits(x, element);
  if (to.mantissa < from.mantissa) {
    const int64_t dropped = from.mantissa - to.mantissa;
    const uint64_t last = uint64_t{1} << dropped;
    const Known odd = f.bit_and(f.shifted_right(y, dropped), f.integer(int64_t{1}));
    const Known bias = f.add(odd, f.integer(last / 2 - 1));
    const uint64_t all = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
    y = f.bit_and(f.add(y, bias), f.integer(all & ~(last - 1)));
  }
  if (to.exponent < from.exponent) {
    const auto bias_of = [](int64_t bits) { return (uint64_t{1} << (bits - 1)) - 1; };
    const uint64_t largest = bias_of(from.exponent) + bias_of(to.exponent);
    const uint64_t smallest = bias_of(from.exponent) - bias_of(to.exponent);
    const uint64_t mask = ((uint64_t{1} << from.exponent) - 1) << from.mantissa;
    const Known exponent = f.bit_and(y, f.integer(mask));
    const Known sign = f.bit_and(y, f.integer(uint64_t{1} << (width - 1)));
    const Known above = f.compare(exponent, f.integer(largest << from.mantissa), "gt");
    const Known below = f.compare(exponent, f.integer(smallest << from.mantissa), "le");
    y = f.select(above, f.bit_or(sign, f.integer(mask)), y);
    y = f.select(below, sign, y);
  }
  const Known nan = f.compare(x, x, "ne");
  return f.give(s, f.select(nan, x, f.bits(y, own)));
}

constexpr HandlerRow kBitRows[] = {
    {"stablehlo.popcnt", emit_count_bits},
    {"stablehlo.count_leading_zeros", emit_count_bits},
    {"stablehlo.reduce_precision", emit_reduce_precision},
    {"chlo.next_after", emit_next_after, 2},
};
constexpr HandlerRow kBitcastRows[] = {{"stablehlo.bitcast_convert", emit_bitcast_convert}};

}  // namespace

int64_t narrow_bits(const std::string& element) {
  if (element == "i4" || element == "ui4") return 4;
  return element == "i2" || element == "ui2" ? 2 : 0;
}

Expected<Known> narrowed(Emitter& e, const Known& x, const std::string& element) {
  const int64_t bits = narrow_bits(element);
  if (bits == 0) return x;
  const bool is_signed = element.starts_with("i");
  Formula f(e, tensor_type(is_signed ? "i8" : "ui8", x.type.dims));
  Known y = f.bit_and(x, f.integer((int64_t{1} << bits) - 1));
  const Known sign = f.integer(int64_t{1} << (bits - 1));
  if (is_signed) y = f.sub(f.bit_xor(y, sign), sign);
  y.type.element = element;
  return f.result(std::move(y));
}

Expected<Known> same_bits(Emitter& e, const Known& x, const std::string& element) {
  if (x.type.element == element) return x;
  HOSTIR_ASSIGN_OR_RETURN(const TensorType to, our_type(tensor_type(element, {}), e.place()));
  const bool integers = !is_float(*x.type.dtype()) && !is_float(to.dtype);
  Attributes attributes;
  attributes.set("to", to.dtype);
  if (!integers) attributes.set("bits", true);
  return e.apply(OpKind::cast, {x}, std::move(attributes));
}

std::span<const HandlerRow> bit_handlers() { return kBitRows; }
std::span<const HandlerRow> bitcast_handlers() { return kBitcastRows; }

}  // namespace hostir::importer
