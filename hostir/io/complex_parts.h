// Complex numbers outside a program: a tensor of real numbers whose last dimension holds the real
// and the imaginary part. The language has no complex dtype: an imported program has a pair of real
// parameters or results, %x_re and %x_im, for each complex one of its module.
#pragma once

#include <string>
#include <vector>

#include "hostir/ir/tensor.h"
#include "hostir/support/expected.h"

namespace hostir::io {

struct ComplexParts {
  Tensor re;
  Tensor im;
};

/// The tensor `name` without its last dimension. Errors: kUsage if that dimension is not 2.
Expected<ComplexParts> complex_parts(const Tensor& tensor, const std::string& name);
/// The parts, of the same shape, along a new last dimension.
Tensor joined_parts(const Tensor& re, const Tensor& im);

/// Where the module's parameter or result number `position` is in the program. `pairs` has the
/// places of the real parts there, in order.
size_t place_of_module(size_t position, const std::vector<size_t>& pairs);

}  // namespace hostir::io
