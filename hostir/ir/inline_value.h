// Tensor values in text form: `4xf32=[1 2 3 4]`, `2x3xf32=[1 2 3][4 5 6]`,
// `2x2x2xi32=[[1 2][3 4]][[5 6][7 8]]`.
//
// This is IREE's notation. A scalar is `f32=3`; a single number fills the whole shape: `4xf32=0`.
// Spaces or commas separate numbers; `nan`, `inf`, `-inf`, `true` and `false` are accepted.
// Brackets only show the rows; the parser checks that they balance and nothing more. Printing is
// exact: the printed text parses to the same bits, except for NaN payloads.
#pragma once

#include <string>
#include <string_view>

#include "hostir/ir/tensor.h"
#include "hostir/support/expected.h"

namespace hostir {

/// Errors: `value_c3`, with the reason.
Expected<Tensor> parse_inline_value(std::string_view text);
std::string format_inline_value(const Tensor& tensor);

/// A shape and dtype without values: `4x8xf32`. Errors: `value_c3`.
struct ShapeText {
  DType dtype = DType::kF32;
  Extents extents;
};
Expected<ShapeText> parse_shape_text(std::string_view text);
std::string format_shape_text(DType dtype, const Extents& extents);

/// One element, as the shortest text that parses to the same value.
std::string format_number(const Tensor& tensor, int64_t index);

}  // namespace hostir
