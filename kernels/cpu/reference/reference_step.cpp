#include "kernels/cpu/reference/reference_step.h"

#include <fmt/core.h>

#include "hostir/ops/record.h"
#include "kernels/cpu/reference/reference_executor.h"

namespace hostir::cpu {
namespace {

class ReferenceStep final : public Step {
 public:
  ReferenceStep(const BoundKernel& kernel, const Instruction& instruction)
      : kernel_(kernel), instruction_(instruction) {}

  void run(const RunContext& context) override {
    std::vector<ConstMemory> read(context.values.size());
    for (size_t v = 0; v < read.size(); ++v) {
      read[v] = {context.values[v].data, context.values[v].bytes};
    }
    run_reference(kernel_, instruction_, read, context.values);
  }
  std::string description() const override {
    return fmt::format("{} reference", record(instruction_.kind).mnemonic);
  }

 private:
  const BoundKernel& kernel_;
  const Instruction& instruction_;
};

}  // namespace

std::unique_ptr<Step> make_reference_step(const BoundKernel& kernel,
                                          const Instruction& instruction) {
  return std::make_unique<ReferenceStep>(kernel, instruction);
}

}  // namespace hostir::cpu
