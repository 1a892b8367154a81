#include "kernels/cuda/generate/sources.h"

#include <fmt/core.h>

#include "kernels/cuda/generate/planner.h"

namespace hostir::cuda {

std::vector<KernelSource> sources_of(const Plan& plan) {
  std::vector<KernelSource> sources;
  for (const Step& step : plan.steps) {
    if (const auto* generated = std::get_if<GeneratedStep>(&step)) {
      sources.push_back({generated->name, fmt::format("// {}: {}\n{}", generated->name,
                                                      generated->summary, generated->text)});
      continue;
    }
    if (const auto* attention = std::get_if<AttentionStep>(&step)) {
      const GeneratedStep& call = attention->shown;
      sources.push_back(
          {call.name,
           fmt::format("// {}: {}\n// One call of cuDNN; op by op where it is missing.\n",
                       call.name, call.summary)});
      continue;
    }
    const auto& product = std::get<ProductStep>(step);
    const bool is_library = cublas_may_take(product);
    std::string text = fmt::format("// {}: {}\n", product.plain.name, product.plain.summary);
    text += is_library ? "// One call of cublasLtMatmul.\n" : product.plain.text;
    sources.push_back({product.plain.name, std::move(text)});
  }
  return sources;
}

bool cublas_may_take(const ProductStep& step) {
  if (!is_float(step.dtype) || size_bytes(step.dtype) == 1 || step.k == 0) return false;
  if (step.dtype == DType::kF64 &&
      (step.bias >= 0 || step.activation != ProductStep::Activation::kNone)) {
    return false;
  }
  return true;
}

Expected<std::vector<KernelSource>> generate_sources(const kernels::BoundKernel& kernel,
                                                     const CompilerOptions& options) {
  HOSTIR_ASSIGN_OR_RETURN(const Plan plan, plan_kernel(kernel, options));
  return sources_of(plan);
}

}  // namespace hostir::cuda
