#include "hostir/ir/fits.h"

#include <fmt/format.h>

#include <cmath>

namespace hostir {

bool fits(int64_t value, DType dtype) {
  if (is_float(dtype)) return fits(static_cast<double>(value), dtype);
  if (dtype == DType::kU64) return value >= 0;
  return value >= least(dtype) && value <= greatest(dtype);
}

bool fits(double value, DType dtype) {
  if (is_float(dtype)) {
    if (std::isinf(value)) return std::isinf(facts_of(dtype).top);
    // Conversions to 16- and 8-bit floats go through f32.
    const double rounded =
        is_narrow_float(dtype) ? static_cast<double>(static_cast<float>(value)) : value;
    const double overflow = facts_of(dtype).overflow;
    return std::isnan(value) || overflow == 0 || std::fabs(rounded) < overflow;
  }
  if (dtype == DType::kU64) return value > -1 && value < 0x1p64;
  return value >= -0x1p63 && value < 0x1p63 && fits(static_cast<int64_t>(value), dtype);
}

std::optional<std::string> why_not_exact(double value, DType dtype) {
  if (is_float(dtype)) return std::nullopt;
  if (std::trunc(value) != value) return fmt::format("{} is not a whole number", value);
  if (fits(value, dtype)) return std::nullopt;
  const std::string top = is_unsigned(dtype)
                              ? fmt::to_string(static_cast<uint64_t>(greatest(dtype)))
                              : fmt::to_string(greatest(dtype));
  return fmt::format("{} is out of the range of {}: {} to {}", value, name(dtype), least(dtype),
                     top);
}

std::optional<int64_t> first_unfit(const Tensor& tensor, DType dtype) {
  if (tensor.dtype == dtype) return std::nullopt;
  const int64_t n = tensor.element_count();
  for (int64_t i = 0; i < n; ++i) {
    const bool is_large = tensor.dtype == DType::kU64 && tensor.get_int(i) < 0;
    const bool good = is_float(tensor.dtype) || (is_large && is_float(dtype))
                          ? fits(tensor.get_double(i), dtype)
                          : !is_large && fits(tensor.get_int(i), dtype);
    if (!good) return i;
  }
  return std::nullopt;
}

}  // namespace hostir
