// Tensor elements as text, in the formats that panels offer.
#pragma once

#include <cstdint>
#include <string>

#include "hostir/ir/tensor.h"

namespace hostir::gui {

enum class ValueFormat : uint8_t { kDecimal, kFixed, kScientific, kBits };

/// Element `i` in row-major order. Integers are written as integers in all formats except bits.
std::string value_text(const Tensor& tensor, int64_t i, ValueFormat format);

}  // namespace hostir::gui
