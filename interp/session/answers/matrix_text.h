// Formats tensors for a terminal: aligned rows, with the middle of large tensors elided.
#pragma once

#include <string>

#include "hostir/ir/sharding.h"
#include "hostir/ir/tensor.h"

namespace hostir::interp {

/// Indented by two, ending with a newline. Tensors of rank above 2 are printed as consecutive
/// two-dimensional slices, each under its index. Formats: 0 by dtype, 'd' decimal, 'e' exponent,
/// 'x' the bits of each element.
std::string matrix_text(const Tensor& tensor, char format);

}  // namespace hostir::interp
