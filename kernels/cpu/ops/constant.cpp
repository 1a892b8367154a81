#include <cstring>

#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

// A single element is a splat; otherwise the literal is the global tensor.
void reference_constant(const ReferenceCall& call) {
  const Placement& out = *call.out[0];
  const BoxIndexer write(out.box);
  const auto element = static_cast<size_t>(size_bytes(out.dtype));
  const Tensor* literal = call.instruction.attributes.get<Tensor>("data");
  Tensor value = literal ? converted(*literal, out.dtype) : Tensor::zeros(out.dtype, {1});
  if (!literal) value.set_double(0, call.instruction.attributes.get_or<double>("value", 0));
  const bool is_splat = value.element_count() == 1;
  for_each_index(out.box, [&](const std::vector<int64_t>& index) {
    std::byte* to = call.out_data[0].data + static_cast<size_t>(write.offset(index)) * element;
    const int64_t from = is_splat ? 0 : global_linear_index(out.global, index);
    std::memcpy(to, value.data.data() + static_cast<size_t>(from) * element, element);
  });
}

}  // namespace hostir::cpu
