// Values written in text: `4xf32=[1 2 3 4]`, `2x3xf32=[1 2 3][4 5 6]`, `2x2x2xi32=[[1 2][3 4]][[5
// 6][7 8]]`.
//
// IREE's notation. A scalar is `f32=3`; one number for a whole shape fills it: `4xf32=0`. Numbers
// are separated by spaces or commas; `nan`, `inf`, `-inf`, `true`, `false` are read. Brackets show
// the rows and are checked for balance only. Printing is exact: reading the printed text gives the
// same bits, except that NaN payloads are not kept.
#pragma once

#include <string>
#include <string_view>

#include "hostir/ir/tensor.h"
#include "hostir/support/expected.h"

namespace hostir {

/// Errors: `value_c3` says what is wrong with the text.
Expected<Tensor> parse_inline_value(std::string_view text);
std::string format_inline_value(const Tensor& tensor);

/// Only a shape and dtype: `4x8xf32`. Errors: `value_c3`.
struct ShapeText {
  DType dtype = DType::kF32;
  Extents extents;
};
Expected<ShapeText> parse_shape_text(std::string_view text);
std::string format_shape_text(DType dtype, const Extents& extents);

/// One number, the shortest text that reads back.
std::string format_number(const Tensor& tensor, int64_t index);

}  // namespace hostir
