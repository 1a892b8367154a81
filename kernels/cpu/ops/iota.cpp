#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

void reference_iota(const ReferenceCall& call) {
  const Placement& out = *call.out[0];
  const auto dim = static_cast<size_t>(call.instruction.attributes.get_or<int64_t>("dim", 0));
  const BoxIndexer write(out.box);
  for_each_index(out.box, [&](const std::vector<int64_t>& index) {
    store_ints(out.dtype, call.out_data[0].data, write.offset(index), 1, &index[dim]);
  });
}

}  // namespace hostir::cpu
