// Tensor elements as text, in the formats that panels offer.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <string>

#include "hostir/ir/tensor.h"

namespace hostir::gui {

enum class ValueFormat : uint8_t { kDecimal, kFixed, kScientific, kBits };

/// Element `i` in row-major order. Integers are written as integers in all formats except bits.
std::string value_text(const Tensor& tensor, int64_t i, ValueFormat format);

/// The same with at most `digits` significant digits (decimals in the format `fixed`), 1 to 6, and
/// a short exponent if that is below 6: `6.61e11`. Bits and integers of up to `digits` digits stay
/// as they are.
std::string value_text(const Tensor& tensor, int64_t i, ValueFormat format, int digits);

/// The most precise text of element `i` that is at most `width` pixels wide in this font; empty if
/// none is.
std::string fitting_value(const Tensor& tensor, int64_t i, ValueFormat format, const ImFont* font,
                          float width);

}  // namespace hostir::gui
