// Inline values: `2x3xf32=[1 2 3][4 5 6]`, IREE's notation for small tensors.
//
// Brackets show the rows and are checked for balance only; one number alone fills the tensor.
// Printing is exact: reading the printed text gives the same bits, except that NaN payloads are not
// kept.
#pragma once

#include <string>
#include <string_view>

#include "hostir/ir/tensor.h"
#include "hostir/support/expected.h"

namespace hostir::text {

/// Errors: `value_c3` says what is wrong with the text.
Expected<Tensor> parse_inline_tensor(std::string_view text);
std::string print_inline_tensor(const Tensor& tensor);

}  // namespace hostir::text
