#include "hostir/import/emit/arithmetic.h"

#include <algorithm>

namespace hostir::importer {

namespace {

int bits_of(DType dtype) {
  return dtype == DType::kI1 ? 1 : 8 * static_cast<int>(size_bytes(dtype));
}

bool is_beyond_int64(DType dtype, int64_t value) { return dtype == DType::kU64 && value < 0; }

std::optional<uint64_t> shifted(std::string_view op, DType dtype, int64_t a, int64_t by) {
  const int bits = bits_of(dtype);
  const bool is_all = by < 0 || by >= bits;  // a negative amount is a large unsigned one
  const auto x = static_cast<uint64_t>(a);
  if (op == "stablehlo.shift_left") return is_all ? 0 : x << by;
  if (op == "stablehlo.shift_right_logical") {
    const uint64_t mask = ~uint64_t{0} >> (64 - bits);
    return is_all ? 0 : (x & mask) >> by;
  }
  return std::nullopt;
}

std::optional<uint64_t> combined_bits(std::string_view op, DType dtype, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a);
  const auto y = static_cast<uint64_t>(b);
  if (op == "stablehlo.and") return x & y;
  if (op == "stablehlo.or") return x | y;
  if (op == "stablehlo.xor") return x ^ y;
  if (op == "stablehlo.add") return dtype == DType::kI1 ? x | y : x + y;
  if (op == "stablehlo.subtract") return x - y;
  if (op == "stablehlo.multiply") return x * y;
  if (const auto bits = shifted(op, dtype, a, b)) return bits;
  if (is_beyond_int64(dtype, a) || is_beyond_int64(dtype, b)) return std::nullopt;
  if (op == "stablehlo.maximum") return static_cast<uint64_t>(std::max(a, b));
  if (op == "stablehlo.minimum") return static_cast<uint64_t>(std::min(a, b));
  // Division by 0 and by -1 (which may overflow) is left to the program.
  if (b == 0 || b == -1) return std::nullopt;
  if (op == "stablehlo.divide") return static_cast<uint64_t>(a / b);
  if (op == "stablehlo.remainder") return static_cast<uint64_t>(a % b);
  return std::nullopt;
}

}  // namespace

int64_t narrowed(int64_t value, DType dtype) {
  const int unused = 64 - bits_of(dtype);
  const uint64_t bits = static_cast<uint64_t>(value) << unused;
  if (dtype == DType::kI1 || is_unsigned(dtype)) return static_cast<int64_t>(bits >> unused);
  return static_cast<int64_t>(bits) >> unused;
}

std::optional<int64_t> combined(std::string_view op, DType dtype, int64_t a, int64_t b) {
  const auto bits = combined_bits(op, dtype, a, b);
  if (!bits) return std::nullopt;
  return narrowed(static_cast<int64_t>(*bits), dtype);
}

std::optional<bool> holds(std::string_view direction, double a, double b) {
  if (direction == "EQ") return a == b;
  if (direction == "NE") return a != b;
  if (direction == "LT") return a < b;
  if (direction == "LE") return a <= b;
  if (direction == "GT") return a > b;
  if (direction == "GE") return a >= b;
  return std::nullopt;
}

std::optional<bool> holds(std::string_view direction, DType dtype, int64_t a, int64_t b) {
  if (is_beyond_int64(dtype, a) || is_beyond_int64(dtype, b)) return std::nullopt;
  return holds(direction, a < b ? -1.0 : (a > b ? 1.0 : 0.0), 0.0);
}

}  // namespace hostir::importer
