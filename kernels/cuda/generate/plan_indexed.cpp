// Plans ops that find elements by position or content: each is a separate launch.
#include <fmt/core.h>

#include "hostir/ops/record.h"
#include "kernels/cuda/generate/emit_common.h"
#include "kernels/cuda/generate/indexed.h"
#include "kernels/cuda/generate/planning.h"

namespace hostir::cuda {

// A thread reads no elements of a base but those that it writes.
constexpr const char* kOwnElement = "own element";

Expected<void> Planner::add_indexed(const Instruction& instruction) {
  IndexedCall call{instruction, {}, {}};
  GeneratedStep step;
  for (const Operand& o : instruction.operands) {
    if (!o.value.valid()) continue;
    const uint32_t value = o.value.index;
    if (states_[value].at == ValueState::At::kLiteral) materialise(value);
    const int buffer = root_buffer(value);
    const Placement& p = placement(value);
    const auto walk = walk_over(value, p.box);
    if (!walk) return unsupported(instruction, "its operand cannot be reached");
    call.in.push_back({&p, *walk});
    step.buffers.push_back(buffer);
    const bool is_base = record(instruction.kind).operands[o.slot].name == "base";
    const uint32_t result = instruction.results.front().index;
    const bool is_like_result =
        p.box == placement(result).box &&
        *walk == Walk{0, kernels::dense_view(result, placement(result)).strides};
    step.uses.push_back({buffer, false, is_base && is_like_result ? kOwnElement : ""});
    step.read_bytes += static_cast<double>(p.local_bytes());
  }
  for (const ValueId result : instruction.results) {
    const int buffer = buffer_for(result.index);
    call.out.push_back(&placement(result));
    step.buffers.push_back(buffer);
    step.uses.push_back({buffer, true, kOwnElement});
    step.write_bytes += static_cast<double>(placement(result).local_bytes());
    set_memory(result.index, buffer);
  }
  IndexedKernel kernel = cuda_op(instruction.kind).indexed(call);
  if (kernel.scratch_bytes > 0) {
    const int scratch = temporary(kernel.scratch_bytes);
    step.buffers.push_back(scratch);
    step.uses.push_back({scratch, true, ""});
  }
  step.name = next_name(plan_);
  step.block = static_cast<unsigned>(kernel.threads);
  step.grid = static_cast<unsigned>(kernel.blocks);
  step.flops = flops_of(instruction);
  step.summary = fmt::format("{} {}, {} elements", record(instruction.kind).mnemonic,
                             name(call.result().dtype), call.result().box.volume());
  const size_t arguments = step.buffers.size();
  step.text = body_function(step.name + "_0", arguments, "i64t", kernel.threads, kernel.body) +
              entries(step.name, arguments, kernel.threads,
                      fmt::format("  {}_0<true>(a, blockIdx.x);\n", step.name),
                      fmt::format("  {}_0<false>(a, blockIdx.x);\n", step.name));
  plan_.steps.emplace_back(std::move(step));
  return {};
}

}  // namespace hostir::cuda
