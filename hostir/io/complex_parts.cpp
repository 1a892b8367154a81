#include "hostir/io/complex_parts.h"

#include <cstring>

#include "hostir/ir/inline_value.h"

namespace hostir::io {

Expected<ComplexParts> complex_parts(const Tensor& tensor, const std::string& name) {
  if (tensor.extents.empty() || tensor.extents.back() != 2) {
    return fail(ErrorKind::kUsage, "usage",
                "%" + name +
                    " is complex: give a file of complex numbers, or a last dimension of 2 "
                    "for the real and imaginary parts, not " +
                    format_shape_text(tensor.dtype, tensor.extents));
  }
  const Extents extents(tensor.extents.begin(), tensor.extents.end() - 1);
  ComplexParts out{Tensor::zeros(tensor.dtype, extents), Tensor::zeros(tensor.dtype, extents)};
  const auto size = static_cast<size_t>(size_bytes(tensor.dtype));
  for (size_t at = 0; at < out.re.data.size(); at += size) {
    std::memcpy(out.re.data.data() + at, tensor.data.data() + 2 * at, size);
    std::memcpy(out.im.data.data() + at, tensor.data.data() + 2 * at + size, size);
  }
  return out;
}

Tensor joined_parts(const Tensor& re, const Tensor& im) {
  Extents extents = re.extents;
  extents.push_back(2);
  Tensor out = Tensor::zeros(re.dtype, std::move(extents));
  const auto size = static_cast<size_t>(size_bytes(re.dtype));
  for (size_t at = 0; at < re.data.size(); at += size) {
    std::memcpy(out.data.data() + 2 * at, re.data.data() + at, size);
    std::memcpy(out.data.data() + 2 * at + size, im.data.data() + at, size);
  }
  return out;
}

size_t place_of_module(size_t position, const std::vector<size_t>& pairs) {
  for (const size_t pair : pairs) {
    if (pair < position) ++position;
  }
  return position;
}

}  // namespace hostir::io
