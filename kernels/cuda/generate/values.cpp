#include "kernels/cuda/generate/values.h"

namespace hostir::cuda {

Readers::Readers(const kernels::BoundKernel& kernel, const std::vector<const Instruction*>& body)
    : readers_(kernel.values.size()), returned_(kernel.values.size(), false) {
  for (const Operand& result : kernels::returned_values(*kernel.function)) {
    returned_[result.value.index] = true;
  }
  for (size_t i = body.size(); i > 0; --i) {
    if (!is_live(*body[i - 1])) continue;
    for (const Operand& operand : body[i - 1]->operands) {
      if (operand.value.valid()) readers_[operand.value.index].push_back(body[i - 1]);
    }
  }
}

bool Readers::is_live(const Instruction& instruction) const {
  for (const ValueId result : instruction.results) {
    if (returned_[result.index] || !readers_[result.index].empty()) return true;
  }
  return false;
}

}  // namespace hostir::cuda
