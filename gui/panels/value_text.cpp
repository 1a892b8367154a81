#include "gui/panels/value_text.h"

#include <fmt/core.h>

#include <cmath>
#include <cstring>

namespace hostir::gui {

std::string value_text(const Tensor& tensor, int64_t i, ValueFormat format) {
  const auto size = static_cast<size_t>(size_bytes(tensor.dtype));
  if (format == ValueFormat::kBits) {
    uint64_t bits = 0;
    std::memcpy(&bits, tensor.data.data() + static_cast<size_t>(i) * size, size);
    return fmt::format("{:0{}x}", bits, size * 2);
  }
  if (!is_float(tensor.dtype)) return std::to_string(tensor.get_int(i));
  const double v = tensor.get_double(i);
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v > 0 ? "Inf" : "-Inf";
  if (format == ValueFormat::kScientific) return fmt::format("{:.4e}", v);
  return format == ValueFormat::kFixed ? fmt::format("{:.4f}", v) : fmt::format("{:.6g}", v);
}

}  // namespace hostir::gui
