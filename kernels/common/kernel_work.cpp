#include "kernels/common/kernel_work.h"

#include "hostir/ir/machine.h"
#include "hostir/ops/kernel_time.h"
#include "hostir/ops/record.h"
#include "kernels/common/bound_kernel.h"

namespace hostir::kernels {

KernelWork kernel_work(const Program& program, const BoundKernel& kernel, const Machine& machine) {
  const Function& function = *kernel.function;
  const auto placement = [&](ValueId value) -> const Placement& {
    return kernel.values[value.index];
  };
  KernelWork work;
  KernelTime time(machine);
  for (const InstrId id : function.preorder()) {
    const Instruction& instruction = function.instr(id);
    const OpRecord& op = record(instruction.kind);
    if (op.cost == nullptr) continue;
    const std::vector<Type> types = operand_types(function, instruction);
    const std::vector<Type> written = written_types(function, instruction);
    std::vector<Extents> in;
    std::vector<Extents> out;
    for (const Operand& o : instruction.operands) {
      if (o.value.valid()) in.push_back(placement(o.value).local());
    }
    for (const ValueId v : instruction.results) out.push_back(placement(v).local());
    const OpCall call{instruction.kind, types,  instruction.attributes, &instruction, &function,
                      &program,         written};
    const bool is_product = op.shape == OpShape::kContraction && !types.empty();
    const double flops = op.cost(call, in, out).flops;
    work.flops += flops;
    time.add(flops, is_product ? std::optional(dtype_of(types[0])) : std::nullopt);
  }
  const MovedValues moved = moved_values(function);
  for (const ValueId v : moved.read)
    work.read_bytes += static_cast<double>(placement(v).local_bytes());
  for (const ValueId v : moved.written)
    work.write_bytes += static_cast<double>(placement(v).local_bytes());
  work.limit_ns = time.limit_ns(work.read_bytes + work.write_bytes);
  work.expected_ns = time.expected_ns(work.read_bytes + work.write_bytes);
  return work;
}

}  // namespace hostir::kernels
