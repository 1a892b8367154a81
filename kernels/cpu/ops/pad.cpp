#include "kernels/cpu/reference/reference_indices.h"

namespace hostir::cpu {

void reference_pad(const ReferenceCall& call) {
  const Attributes& attributes = call.instruction.attributes;
  const Placement& in = *call.in[0];
  const Placement& out = *call.out[0];
  const ExprList& low = *attributes.get<ExprList>("low");
  const IntList* interior = attributes.get<IntList>("interior");
  const double value = attributes.get_or<double>("value", 0);
  const auto element = static_cast<size_t>(size_bytes(out.dtype));
  std::vector<std::byte> border(element);
  if (is_float(out.dtype)) {
    store_reals(out.dtype, border.data(), 0, 1, &value);
  } else {
    const int64_t whole = real_to_int(out.dtype, value);
    store_ints(out.dtype, border.data(), 0, 1, &whole);
  }
  const BoxIndexer read(in.box);
  const BoxIndexer write(out.box);
  std::vector<int64_t> source(in.global.size(), 0);
  for_each_index(out.box, [&](const std::vector<int64_t>& index) {
    bool inside = true;
    for (size_t d = 0; d < index.size(); ++d) {
      const int64_t step = interior ? (*interior)[d] + 1 : 1;
      const int64_t at = index[d] - low[d].value();
      inside = inside && at >= 0 && at % step == 0;
      source[d] = at / step;
    }
    std::byte* to = call.out_data[0].data + static_cast<size_t>(write.offset(index)) * element;
    const std::byte* from =
        inside && read.contains(source)
            ? call.in_data[0].data + static_cast<size_t>(read.offset(source)) * element
            : border.data();
    std::copy_n(from, element, to);
  });
}

}  // namespace hostir::cpu
