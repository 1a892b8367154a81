#include "gui/panels/values/value_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "hostir/ir/inline_value.h"

namespace hostir::gui {

namespace {

constexpr int kAllDigits = 6;

// `6.61e+11` as `6.61e11`, `1e-05` as `1e-5`.
std::string with_short_exponent(std::string text) {
  const size_t e = text.find('e');
  if (e == std::string::npos) return text;
  size_t from = e + 1;
  if (text[from] == '+') text.erase(from, 1);
  if (text[from] == '-') ++from;
  while (from + 1 < text.size() && text[from] == '0') text.erase(from, 1);
  return text;
}

std::string real_text(double v, ValueFormat format, int digits) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v > 0 ? "Inf" : "-Inf";
  if (format == ValueFormat::kScientific) return fmt::format("{:.{}e}", v, std::min(digits, 5) - 1);
  if (format == ValueFormat::kFixed) return fmt::format("{:.{}f}", v, std::min(digits, 4));
  return fmt::format("{:.{}g}", v, digits);
}

}  // namespace

std::string value_text(const Tensor& tensor, int64_t i, ValueFormat format) {
  return value_text(tensor, i, format, kAllDigits);
}

std::string value_text(const Tensor& tensor, int64_t i, ValueFormat format, int digits) {
  const auto size = static_cast<size_t>(size_bytes(tensor.dtype));
  if (format == ValueFormat::kBits) {
    uint64_t bits = 0;
    std::memcpy(&bits, tensor.data.data() + static_cast<size_t>(i) * size, size);
    return fmt::format("{:0{}x}", bits, size * 2);
  }
  if (!is_float(tensor.dtype)) {
    const std::string text = format_number(tensor, i);
    if (digits == kAllDigits || static_cast<int>(text.size()) <= digits) return text;
    return with_short_exponent(fmt::format("{:.{}e}", tensor.get_double(i), digits - 1));
  }
  const std::string text = real_text(tensor.get_double(i), format, digits);
  return digits == kAllDigits ? text : with_short_exponent(text);
}

std::string fitting_value(const Tensor& tensor, int64_t i, ValueFormat format, const ImFont* font,
                          float width) {
  for (int digits = kAllDigits; digits > 0; --digits) {
    std::string text = value_text(tensor, i, format, digits);
    const char* end = text.data() + text.size();
    if (font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.data(), end).x <= width) return text;
  }
  // A fixed format has no short form of large numbers.
  return format == ValueFormat::kFixed
             ? fitting_value(tensor, i, ValueFormat::kDecimal, font, width)
             : std::string();
}

}  // namespace hostir::gui
