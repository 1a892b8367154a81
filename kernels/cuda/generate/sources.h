// The text of a plan.
#pragma once

#include "kernels/cuda/generate/plan.h"
#include "kernels/cuda/kernel.h"

namespace hostir::cuda {

std::vector<KernelSource> sources_of(const Plan& plan);

/// Whether cuBLASLt may have an algorithm for a product; its heuristics have the last word.
bool cublas_may_take(const ProductStep& step);

}  // namespace hostir::cuda
