#include "hostir/io/fits.h"

#include <cmath>

namespace hostir::io {

namespace {

// The smallest magnitude that rounds to infinity: the largest finite number plus half an ulp.
double overflow_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return 0x1.ffffffp127;
    case DType::kBF16:
      return 0x1.ffp127;
    case DType::kF16:
      return 65520;
    default:
      return INFINITY;
  }
}

}  // namespace

bool fits(int64_t value, DType dtype) {
  switch (dtype) {
    case DType::kI64:
      return true;
    case DType::kI32:
      return value >= INT32_MIN && value <= INT32_MAX;
    case DType::kI8:
      return value >= INT8_MIN && value <= INT8_MAX;
    case DType::kU8:
      return value >= 0 && value <= UINT8_MAX;
    case DType::kI1:
      return value == 0 || value == 1;
    default:
      return fits(static_cast<double>(value), dtype);
  }
}

bool fits(double value, DType dtype) {
  // Conversions to 16-bit floats go through f32.
  const double rounded =
      is_16_bit_float(dtype) ? static_cast<double>(static_cast<float>(value)) : value;
  if (is_float(dtype)) return !std::isfinite(value) || std::fabs(rounded) < overflow_of(dtype);
  return value >= -0x1p63 && value < 0x1p63 && fits(static_cast<int64_t>(value), dtype);
}

std::optional<int64_t> first_unfit(const Tensor& tensor, DType dtype) {
  if (tensor.dtype == dtype) return std::nullopt;
  const int64_t n = tensor.element_count();
  for (int64_t i = 0; i < n; ++i) {
    const bool good =
        is_float(tensor.dtype) ? fits(tensor.get_double(i), dtype) : fits(tensor.get_int(i), dtype);
    if (!good) return i;
  }
  return std::nullopt;
}

}  // namespace hostir::io
