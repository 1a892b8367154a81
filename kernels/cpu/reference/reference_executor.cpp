#include "kernels/cpu/reference/reference_executor.h"

#include <fmt/core.h>

#include <cstring>

#include "hostir/ops/record.h"
#include "kernels/cpu/given_kernels.h"

namespace hostir::cpu {
namespace {

constexpr size_t kNever = SIZE_MAX;

class ReferenceExecutor final : public CompiledKernel {
 public:
  ReferenceExecutor(const BoundKernel& kernel, std::vector<const Instruction*> body)
      : kernel_(kernel), body_(std::move(body)) {
    last_use_.assign(kernel_.values.size(), kNever);
    for (size_t i = 0; i < body_.size(); ++i) {
      for (const Operand& operand : body_[i]->operands) last_use_[operand.value.index] = i;
    }
    for (const Operand& result : returned_values(*kernel_.function)) {
      last_use_[result.value.index] = kNever;
    }
  }

  void run(std::span<const ConstMemory> in, std::span<const Memory> out) override {
    const size_t count = kernel_.values.size();
    std::vector<std::vector<std::byte>> scratch(count);
    std::vector<ConstMemory> read(count);
    std::vector<Memory> write(count);
    for (size_t p = 0; p < in.size(); ++p) {
      read[kernel_.function->params[p].value.index] = in[p];
    }
    bind_results_in_place(in, out, read, write);
    for (size_t i = 0; i < body_.size(); ++i) {
      for (const ValueId result : body_[i]->results) allocate(result.index, scratch, read, write);
      run_reference(kernel_, *body_[i], read, write);
      release_after(i, scratch);
    }
    copy_results(read, out);
  }

  std::string description() const override {
    std::string text = "reference";
    for (const Instruction* instruction : body_) {
      text += fmt::format(" {}", record(instruction->kind).mnemonic);
    }
    return text;
  }

 private:
  /// Computes results directly in the outputs, unless an output shares memory with an input that a
  /// later op may still read.
  void bind_results_in_place(std::span<const ConstMemory> in, std::span<const Memory> out,
                             std::vector<ConstMemory>& read, std::vector<Memory>& write) const {
    const std::vector<Operand>& results = returned_values(*kernel_.function);
    for (const Memory& memory : out) {
      for (const ConstMemory& operand : in) {
        if (overlaps(operand, memory)) return;
      }
    }
    for (size_t r = 0; r < out.size(); ++r) {
      const uint32_t value = results[r].value.index;
      if (read[value].data != nullptr || write[value].data != nullptr) continue;
      write[value] = out[r];
    }
  }

  /// Through copies, because a returned parameter may share memory with another result.
  void copy_results(std::span<const ConstMemory> read, std::span<const Memory> out) const {
    const std::vector<Operand>& results = returned_values(*kernel_.function);
    std::vector<std::vector<std::byte>> copies(out.size());
    for (size_t r = 0; r < out.size(); ++r) {
      const ConstMemory value = read[results[r].value.index];
      if (value.data != out[r].data) copies[r].assign(value.data, value.data + value.bytes);
    }
    for (size_t r = 0; r < out.size(); ++r) {
      if (!copies[r].empty()) std::memcpy(out[r].data, copies[r].data(), copies[r].size());
    }
  }

  void allocate(uint32_t value, std::vector<std::vector<std::byte>>& scratch,
                std::vector<ConstMemory>& read, std::vector<Memory>& write) const {
    if (write[value].data == nullptr) {
      const int64_t bytes = kernel_.values[value].local_bytes();
      scratch[value].resize(static_cast<size_t>(bytes));
      write[value] = {scratch[value].data(), bytes};
    }
    read[value] = {write[value].data, kernel_.values[value].local_bytes()};
  }

  void release_after(size_t step, std::vector<std::vector<std::byte>>& scratch) const {
    for (const Operand& operand : body_[step]->operands) {
      if (last_use_[operand.value.index] == step) scratch[operand.value.index] = {};
    }
  }

  BoundKernel kernel_;
  std::vector<const Instruction*> body_;
  std::vector<size_t> last_use_;  // by value: the step after which it is dead
};

}  // namespace

void run_reference(const BoundKernel& kernel, const Instruction& instruction,
                   std::span<const ConstMemory> read, std::span<const Memory> write) {
  std::vector<const Placement*> in_placements;
  std::vector<ConstMemory> in_data;
  std::vector<const Placement*> out_placements;
  std::vector<Memory> out_data;
  for (const Operand& operand : instruction.operands) {
    in_placements.push_back(&kernel.values[operand.value.index]);
    in_data.push_back(read[operand.value.index]);
  }
  for (const ValueId result : instruction.results) {
    out_placements.push_back(&kernel.values[result.index]);
    out_data.push_back(write[result.index]);
  }
  const ReferenceCall call{.instruction = instruction,
                           .function = kernel.function.get(),
                           .in = in_placements,
                           .in_data = in_data,
                           .out = out_placements,
                           .out_data = out_data,
                           .identity_only = !instruction.results.empty() &&
                                            kernel.holds_identity(instruction.results.front())};
  if (const ReferenceKernel own = reference_kernel(instruction.kind)) {
    own(call);
  } else {
    given_kernel(instruction.attributes.get_or<std::string>("name", ""))->compute(call);
  }
}

bool overlaps(ConstMemory a, Memory b) {
  return a.data < b.data + b.bytes && b.data < a.data + a.bytes;
}

Expected<std::unique_ptr<CompiledKernel>> compile_reference(const BoundKernel& kernel) {
  HOSTIR_ASSIGN_OR_RETURN(std::vector<const Instruction*> body, kernel_body(kernel));
  return std::make_unique<ReferenceExecutor>(kernel, std::move(body));
}

}  // namespace hostir::cpu
