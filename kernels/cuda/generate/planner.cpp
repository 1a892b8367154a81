#include "kernels/cuda/generate/planner.h"

#include <fmt/core.h>

#include "hostir/ops/record.h"
#include "kernels/cuda/generate/emit.h"
#include "kernels/cuda/generate/planning.h"

namespace hostir::cuda {

Planner::Planner(const kernels::BoundKernel& kernel, std::vector<const Instruction*> body,
                 const CompilerOptions& options)
    : kernel_(kernel),
      body_(std::move(body)),
      options_(options),
      readers_(kernel, body_),
      states_(kernel.values.size()) {
  const Function& function = *kernel.function;
  for (size_t p = 0; p < function.params.size(); ++p) {
    const uint32_t value = function.params[p].value.index;
    set_memory(value, plan_.add_buffer({.kind = Buffer::Kind::kParameter,
                                        .index = p,
                                        .bytes = placement(value).local_bytes()}));
  }
  for (const Operand& result : kernels::returned_values(function)) {
    result_buffers_.push_back(plan_.add_buffer({.kind = Buffer::Kind::kResult,
                                                .index = result_buffers_.size(),
                                                .bytes = placement(result.value).local_bytes()}));
  }
  plan_.parameter_count = function.params.size();
  plan_.result_count = result_buffers_.size();
}

Expected<Plan> Planner::run() {
  find_attention();
  for (const Instruction* instruction : body_) {
    if (!readers_.is_live(*instruction) || absorbed_.contains(instruction)) continue;
    if (const auto found = attentions_.find(instruction); found != attentions_.end()) {
      add_attention(found->second);
      continue;
    }
    HOSTIR_TRY(add(*instruction));
  }
  HOSTIR_TRY(finish());
  place_temporaries(plan_);
  return std::move(plan_);
}

Expected<void> Planner::add(const Instruction& instruction) {
  const CudaOp& op = cuda_op(instruction.kind);
  if (instruction.results.size() != 1 && op.form != CudaOp::Form::kIndexed) {
    return unsupported(instruction, "it has several results");
  }
  const uint32_t result = instruction.results[0].index;
  if (placement(result).box.empty()) {
    for (const ValueId r : instruction.results) set_literal(r.index, "0");  // never read
    return {};
  }
  switch (op.form) {
    case CudaOp::Form::kPointwise:
      return add_pointwise(instruction);
    case CudaOp::Form::kConstant:
      return add_constant(instruction);
    case CudaOp::Form::kMove:
      return add_move(instruction);
    case CudaOp::Form::kConcat:
      return add_concat(instruction);
    case CudaOp::Form::kRelayout:
      return add_relayout(instruction, -1);
    case CudaOp::Form::kReduction:
      return add_fold(instruction);
    case CudaOp::Form::kProduct:
      return op.has_any_dims ? add_dot(instruction) : add_product(instruction);
    case CudaOp::Form::kIndexed:
      return add_indexed(instruction);
    case CudaOp::Form::kNone:
      return unsupported(instruction, std::string(op.missing));
  }
  return {};
}

// Results that are parameters, views or other results are copied at the end.
Expected<void> Planner::finish() {
  const std::vector<Operand>& returned = kernels::returned_values(*kernel_.function);
  for (const Operand& result : returned) materialise(result.value.index);
  std::vector<Group> copies;
  for (size_t r = 0; r < returned.size(); ++r) {
    const uint32_t value = returned[r].value.index;
    const int from = states_[value].buffer;
    const Placement& p = placement(value);
    if (from == result_buffers_[r] || p.box.empty()) continue;
    const Walk dense{0, kernels::dense_view(value, p).strides};
    copies.push_back(copy_part(p.local(), p.dtype, from, dense, result_buffers_[r], dense));
  }
  emit_parts(copies, plan_);
  return {};
}

tl::unexpected<Error> Planner::unsupported(const Instruction& instruction,
                                           const std::string& why) const {
  return fail_at(ErrorKind::kRuntime, "kernel_unsupported",
                 fmt::format("kernel @{}: {} cannot run on a CUDA device: {}",
                             kernel_.function->name, record(instruction.kind).mnemonic, why),
                 instruction.span);
}

int Planner::temporary(int64_t bytes) {
  return plan_.add_buffer({.kind = Buffer::Kind::kTemporary, .bytes = bytes});
}

// A buffer for a value: that of its result, or a temporary.
int Planner::buffer_for(uint32_t value) {
  const std::vector<Operand>& returned = kernels::returned_values(*kernel_.function);
  for (size_t r = 0; r < returned.size(); ++r) {
    if (returned[r].value.index == value) return result_buffers_[r];
  }
  return temporary(placement(value).local_bytes());
}

void Planner::set_memory(uint32_t value, int buffer) {
  states_[value] = {};
  states_[value].at = ValueState::At::kMemory;
  states_[value].buffer = buffer;
}

void Planner::set_literal(uint32_t value, std::string text) {
  states_[value] = {};
  states_[value].at = ValueState::At::kLiteral;
  states_[value].literal = std::move(text);
}

std::string Planner::name_of(uint32_t value) const { return kernel_.function->values[value].name; }

double Planner::flops_of(const Instruction& instruction) const {
  const OpRecord& op = record(instruction.kind);
  if (op.cost == nullptr) return 0;
  const std::vector<Type> types = operand_types(*kernel_.function, instruction);
  const std::vector<Type> written = written_types(*kernel_.function, instruction);
  std::vector<Extents> in;
  for (const Operand& o : instruction.operands) {
    if (o.value.valid()) in.push_back(placement(o.value).local());
  }
  const std::vector<Extents> out = {placement(instruction.results[0]).local()};
  return op
      .cost({instruction.kind, types, instruction.attributes, &instruction, kernel_.function.get(),
             nullptr, written},
            in, out)
      .flops;
}

Expected<Plan> plan_kernel(const kernels::BoundKernel& kernel, const CompilerOptions& options) {
  HOSTIR_ASSIGN_OR_RETURN(std::vector<const Instruction*> body, kernels::kernel_body(kernel));
  return Planner(kernel, std::move(body), options).run();
}

}  // namespace hostir::cuda
