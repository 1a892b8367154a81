#include "kernels/common/kernel_work.h"

#include <algorithm>
#include <cmath>

#include "hostir/ops/record.h"

namespace hostir::kernels {

double expected_ns(double arithmetic_s, double memory_s) {
  return std::hypot(arithmetic_s, memory_s) * 1e9;
}

KernelWork kernel_work(const Program& program, const BoundKernel& kernel, const Machine& machine) {
  const Function& function = *kernel.function;
  const auto placement = [&](ValueId value) -> const Placement& {
    return kernel.values[value.index];
  };
  KernelWork work;
  double arithmetic_s = 0;
  double ramp_s = 0;
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
    const DType dtype = is_product ? dtype_of(types[0]) : DType::kF32;
    const double rate = machine.flops(dtype);
    const double flops = op.cost(call, in, out).flops;
    work.flops += flops;
    if (rate > 0) arithmetic_s += flops / rate;
    if (rate > 0 && is_product) ramp_s += machine.product_ramp_flops / rate;
  }
  for (const Parameter& parameter : function.params) {
    work.read_bytes += static_cast<double>(placement(parameter.value).local_bytes());
  }
  for (const Operand& result : returned_values(function)) {
    work.write_bytes += static_cast<double>(placement(result.value).local_bytes());
  }
  const double bandwidth = machine.memory_bandwidth_bytes_per_s;
  const double memory_s = bandwidth > 0 ? (work.read_bytes + work.write_bytes) / bandwidth : 0;
  work.limit_ns = std::max(arithmetic_s, memory_s) * 1e9;
  work.expected_ns = kernels::expected_ns(arithmetic_s + ramp_s, memory_s);
  return work;
}

}  // namespace hostir::kernels
