#include "kernels/cpu/kernel.h"
#include "kernels/cpu/reference_executor.h"

namespace hostir::cpu {

void CompiledKernel::prepack(size_t, ConstMemory) {}

Expected<std::unique_ptr<CompiledKernel>> compile(const BoundKernel& kernel, KernelSet set) {
  (void)set;
  return compile_reference(kernel);
}

}  // namespace hostir::cpu
