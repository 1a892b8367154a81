#include "hostir/ir/exact_value.h"

#include <fmt/format.h>

#include <cmath>

namespace hostir {

std::optional<std::string> why_not_exact(DType dtype, double number) {
  if (is_float(dtype)) return std::nullopt;
  if (std::trunc(number) != number) return fmt::format("{} is not a whole number", number);
  // 1 above the greatest value: a power of two, which a double holds even for 64 bits.
  const bool is_signed = least(dtype) < 0;
  const int bits = dtype == DType::kI1 ? 1 : 8 * static_cast<int>(size_bytes(dtype));
  const double end = std::ldexp(1, is_signed ? bits - 1 : bits);
  const double begin = is_signed ? -end : 0;
  if (number >= begin && number < end) return std::nullopt;
  return fmt::format("{} goes from {:.0f} to {}, so it does not hold {}", name(dtype), begin,
                     is_unsigned(dtype) ? fmt::to_string(static_cast<uint64_t>(greatest(dtype)))
                                        : fmt::to_string(greatest(dtype)),
                     number);
}

}  // namespace hostir
