#include "kernels/common/bound_kernel.h"

#include <fmt/core.h>

#include "hostir/ops/record.h"

namespace hostir::kernels {
namespace {

tl::unexpected<Error> invalid(const Function& function, std::string_view why) {
  return fail(ErrorKind::kInvalid, "kernel_invalid",
              fmt::format("kernel @{} cannot be compiled: {}", function.name, why));
}

}  // namespace

Expected<std::vector<const Instruction*>> kernel_body(const BoundKernel& kernel) {
  const Function& function = *kernel.function;
  if (!function.body.valid()) return invalid(function, "it has no body");
  const std::vector<InstrId>& ids = function.region(function.body).instructions;
  if (ids.empty() || function.instr(ids.back()).kind != OpKind::return_) {
    return invalid(function, "it does not end with return");
  }
  std::vector<const Instruction*> body;
  for (size_t i = 0; i + 1 < ids.size(); ++i) {
    const Instruction& instruction = function.instr(ids[i]);
    const OpRecord& op = record(instruction.kind);
    if (op.op_class != OpClass::kCompute) {
      return invalid(function, fmt::format("{} is not an op on tensors", op.mnemonic));
    }
    body.push_back(&instruction);
  }
  if (kernel.values.size() != function.values.size()) {
    return invalid(function, "not all of its values have a placement");
  }
  return body;
}

const std::vector<Operand>& returned_values(const Function& function) {
  return function.instr(function.region(function.body).instructions.back()).operands;
}

}  // namespace hostir::kernels
