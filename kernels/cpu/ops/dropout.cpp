#include "hostir/support/philox.h"
#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

// Keeps an element if its random number in [0, 1) is at least the rate, and scales it by 1 / (1 -
// rate), rounded to f32 except for f64. Philox: key = seed, counter = global linear index + offset.
void reference_dropout(const ReferenceCall& call) {
  const Placement& out = *call.out[0];
  const Attributes& attributes = call.instruction.attributes;
  const double rate = attributes.get_or<double>("rate", 0.5);
  const auto seed = static_cast<uint64_t>(attributes.get_or<int64_t>("seed", 0));
  const auto offset = static_cast<uint64_t>(attributes.get_or<int64_t>("offset", 0));
  double scale = 1.0 / (1.0 - rate);
  if (out.dtype != DType::kF64) scale = static_cast<double>(static_cast<float>(scale));
  const AlignedOperand operand(*call.in[0], call.in_data[0], out.box);
  int64_t position = 0;
  for_each_index(out.box, [&](const std::vector<int64_t>& index) {
    const auto counter = static_cast<uint64_t>(global_linear_index(out.global, index)) + offset;
    double value = 0;
    load_reals(out.dtype, operand.data(), position, 1, &value);
    value = static_cast<double>(random_unit(seed, counter)) >= rate ? value * scale : 0.0;
    store_reals(out.dtype, call.out_data[0].data, position, 1, &value);
    ++position;
  });
}

}  // namespace hostir::cpu
