#include "interp/cuda/kernel_listing.h"

#include <fmt/format.h>

#include "interp/core/code/launch_operands.h"
#include "kernels/common/launch_plans.h"
#include "kernels/cuda/kernel.h"

namespace hostir::cuda {

namespace {

struct ListedKernel {
  kernels::BoundKernel bound;
  std::string text;
  std::vector<std::string> launches;
};

Expected<std::unique_ptr<ListedKernel>> list_kernel(kernels::BoundKernel bound) {
  auto out = std::make_unique<ListedKernel>();
  out->bound = std::move(bound);
  const auto sources = generate_sources(out->bound);
  if (!sources) {
    out->text = fmt::format("// It runs on the host: {}\n", sources.error().message());
    return out;
  }
  for (const KernelSource& source : *sources) out->text += source.text + "\n";
  return out;
}

}  // namespace

Expected<std::string> list_kernels(const interp::Code& code) {
  kernels::LaunchPlans<ListedKernel> plans(list_kernel);
  std::vector<ListedKernel*> listed;  // in launch order
  HOSTIR_TRY(interp::prepare_static_launches(
      code,
      [&](interp::CodeIndex index, interp::Rank rank,
          const interp::LaunchPlacements& operands) -> Expected<void> {
        HOSTIR_ASSIGN_OR_RETURN(const Function* kernel, interp::launched_kernel(code, index));
        HOSTIR_ASSIGN_OR_RETURN(ListedKernel * plan,
                                plans.find(*code.program, {index, rank, kernel, operands.parameters,
                                                           operands.results}));
        if (plan->launches.empty()) listed.push_back(plan);
        plan->launches.push_back(fmt::format("rank {} at {}", rank, code.address(index)));
        return {};
      }));
  std::string out;
  for (const ListedKernel* kernel : listed) {
    const auto& launches = kernel->launches;
    out += fmt::format(
        "// ===== kernel @{}: {}{} =====\n{}\n", kernel->bound.function->name, launches.front(),
        launches.size() > 1 ? fmt::format(" and {} more launches", launches.size() - 1) : "",
        kernel->text);
  }
  return out;
}

}  // namespace hostir::cuda
