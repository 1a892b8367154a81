#include "kernels/cpu/fast_executor.h"
#include "kernels/cpu/reference_executor.h"

namespace hostir::cpu {

void CompiledKernel::prepack(size_t, ConstMemory) {}

Expected<std::unique_ptr<CompiledKernel>> compile(const BoundKernel& kernel, KernelSet set) {
  return set == KernelSet::kFast ? compile_fast(kernel) : compile_reference(kernel);
}

}  // namespace hostir::cpu
