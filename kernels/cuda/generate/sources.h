// The generated source code of a plan.
#pragma once

#include "kernels/cuda/generate/plan.h"
#include "kernels/cuda/kernel.h"

namespace hostir::cuda {

std::vector<KernelSource> sources_of(const Plan& plan);

/// True if cuBLASLt may have an algorithm for a product; its heuristics decide.
bool cublas_may_take(const ProductStep& step);

}  // namespace hostir::cuda
