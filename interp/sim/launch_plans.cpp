#include "interp/sim/launch_plans.h"

#include <algorithm>
#include <utility>

namespace hostir::sim {

LaunchPlans::LaunchPlans(const SimOptions& options)
    : options_(options),
      plans_([this](kernels::BoundKernel bound) { return make(std::move(bound)); }) {}

Expected<void> LaunchPlans::prepare(const interp::Code& code) {
  code_ = &code;
  const bool one_for_all = options_.members == SimOptions::Members::kAlike;
  return interp::prepare_static_launches(
      code,
      [this](interp::CodeIndex index, interp::Rank rank,
             const interp::LaunchPlacements& operands) -> Expected<void> {
        HOSTIR_TRY(find(index, rank, operands.parameters, operands.results));
        return {};
      },
      one_for_all ? 1 : code.rank_count);
}

Expected<LaunchPlan*> LaunchPlans::find(interp::CodeIndex code, interp::Rank rank,
                                        std::span<const Placement* const> parameters,
                                        std::span<const Placement* const> results) {
  HOSTIR_ASSIGN_OR_RETURN(const Function* kernel, interp::launched_kernel(*code_, code));
  return plans_.find(*code_->program, {code, rank, kernel, parameters, results});
}

Expected<std::unique_ptr<LaunchPlan>> LaunchPlans::make(kernels::BoundKernel bound) const {
  auto plan = std::make_unique<LaunchPlan>();
  if (options_.values == SimOptions::Values::kComputed) {
    HOSTIR_ASSIGN_OR_RETURN(plan->kernel, cpu::compile(bound, options_.kernels));
  }
  const Machine& machine = options_.machine;
  plan->work = kernels::kernel_work(*code_->program, bound, machine);
  plan->duration_ns = std::max<int64_t>(
      1, static_cast<int64_t>(plan->work.expected_ns + static_cast<double>(machine.launch_ns)));
  plan->bound = std::move(bound);
  return plan;
}

}  // namespace hostir::sim
