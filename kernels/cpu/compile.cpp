#include <fmt/core.h>

#include "hostir/ops/record.h"
#include "kernels/cpu/fast_executor.h"
#include "kernels/cpu/reference/reference_executor.h"

namespace hostir::cpu {

void CompiledKernel::prepack(size_t, ConstMemory) {}

Expected<std::unique_ptr<CompiledKernel>> compile(const BoundKernel& kernel, KernelSet set) {
  for (const Instruction& instruction : kernel.function->instructions) {
    if (record(instruction.kind).op_class != OpClass::kCompute) continue;
    if (reference_kernel(instruction.kind) != nullptr) continue;
    const std::string name = instruction.attributes.get_or<std::string>("name", "");
    return fail_at(ErrorKind::kRuntime, "kernel_unsupported",
                   fmt::format("{} \"{}\" cannot be computed: only its types are known. "
                               "`--shapes-only` runs the program without values",
                               record(instruction.kind).mnemonic, name),
                   instruction.span);
  }
  return set == KernelSet::kFast ? compile_fast(kernel) : compile_reference(kernel);
}

}  // namespace hostir::cpu
