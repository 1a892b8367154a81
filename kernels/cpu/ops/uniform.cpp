#include "hostir/support/philox.h"
#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

// Philox: key = seed, counter = global linear index + offset; never the rank.
void reference_uniform(const ReferenceCall& call) {
  const Placement& out = *call.out[0];
  const Attributes& attributes = call.instruction.attributes;
  const auto seed = static_cast<uint64_t>(attributes.get_or<int64_t>("seed", 0));
  const auto offset = static_cast<uint64_t>(attributes.get_or<int64_t>("offset", 0));
  const double lo = attributes.get_or<double>("lo", 0);
  const double hi = attributes.get_or<double>("hi", 1);
  const BoxIndexer write(out.box);
  for_each_index(out.box, [&](const std::vector<int64_t>& index) {
    const auto counter = static_cast<uint64_t>(global_linear_index(out.global, index)) + offset;
    const double value = lo + (hi - lo) * static_cast<double>(random_unit(seed, counter));
    store_reals(out.dtype, call.out_data[0].data, write.offset(index), 1, &value);
  });
}

}  // namespace hostir::cpu
