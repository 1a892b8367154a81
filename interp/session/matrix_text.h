// Tensors as a person reads them in a terminal: rows aligned, large ones with their middle left
// out.
#pragma once

#include <string>

#include "hostir/ir/sharding.h"
#include "hostir/ir/tensor.h"

namespace hostir::interp {

/// Indented by two, with a newline at the end. Two-dimensional slices of higher ranks come one
/// after another under their index. Formats: 0 as the dtype reads, 'd' decimal, 'e' exponent, 'x'
/// the bits of each element.
std::string matrix_text(const Tensor& tensor, char format);

/// `[0:2, 0:4]`.
std::string box_to_string(const Box& box);

}  // namespace hostir::interp
