#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/record.h"
#include "kernels/cpu/fast_executor.h"
#include "kernels/cpu/given_kernels.h"
#include "kernels/cpu/reference/reference_executor.h"

namespace hostir::cpu {

void CompiledKernel::prepack(size_t, ConstMemory) {}

namespace {

// True if a kernel was given for the operation, which computes buffers that are row-major.
Expected<bool> is_given(const BoundKernel& kernel, const Instruction& instruction) {
  const std::string name = instruction.attributes.get_or<std::string>("name", "");
  const auto refuse = [&](std::string_view why) {
    return fail_at(ErrorKind::kRuntime, "kernel_unsupported",
                   fmt::format("{} \"{}\" {}", record(instruction.kind).mnemonic, name, why),
                   instruction.span);
  };
  const auto given = given_kernel(name);
  if (given == nullptr) {
    return refuse(
        "cannot be computed: only its types are known. `--shapes-only` runs the program without "
        "values; in Python, hostir.kernel() gives it a kernel");
  }
  const auto in_blocks = [&](ValueId value) { return !kernel.values[value.index].blocks.empty(); };
  bool any = std::any_of(instruction.results.begin(), instruction.results.end(), in_blocks);
  for (const Operand& operand : instruction.operands) any = any || in_blocks(operand.value);
  if (any) return refuse("reads or writes a packed buffer, which a given kernel cannot");
  const auto is_part = [&](ValueId value) {
    return kernel.values[value.index].local() != kernel.values[value.index].global;
  };
  if (!given->on_parts && instruction.attributes.get_or<bool>("as_operands", false) &&
      std::any_of(instruction.results.begin(), instruction.results.end(), is_part)) {
    return refuse(
        "is cut as its operands are, which is a guess: give it a kernel that may compute parts "
        "(in Python, hostir.kernel(.., parts=True)), or write `as_operands = false`");
  }
  return true;
}

}  // namespace

Expected<std::unique_ptr<CompiledKernel>> compile(const BoundKernel& kernel, KernelSet set) {
  for (const Instruction& instruction : kernel.function->instructions) {
    if (record(instruction.kind).op_class != OpClass::kCompute) continue;
    if (reference_kernel(instruction.kind) != nullptr) continue;
    HOSTIR_ASSIGN_OR_RETURN(const bool given, is_given(kernel, instruction));
    if (given) set = KernelSet::kReference;  // the fast set has no step for it
  }
  return set == KernelSet::kFast ? compile_fast(kernel) : compile_reference(kernel);
}

}  // namespace hostir::cpu
