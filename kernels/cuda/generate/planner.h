// Plans a kernel function as steps.
//
// 1. Ops that only move elements become views: a walk through another value's memory or registers.
// 2. Pointwise ops on one box join an open group of that box. So does a fold of a value of the
//    group, and whatever is computed from folds and broadcast back; softmax and the normalisations
//    are therefore one pass.
// 3. A group is closed, and its step emitted, when one of its values is needed in memory. Values
//    that nothing outside the group reads are never stored.
// 4. Products are steps of their own; a relu, gelu or sum that directly follows is fused.
// 5. Concat, pack and unpack are stores to parts of a buffer, several per launch.
// 6. All ops of an attention in 16-bit floats are one step (attention.h).
#pragma once

#include "kernels/common/bound_kernel.h"
#include "kernels/cuda/generate/plan.h"
#include "kernels/cuda/kernel.h"

namespace hostir::cuda {

/// Errors: `kernel_invalid`; `kernel_unsupported`, naming the op and the reason.
Expected<Plan> plan_kernel(const kernels::BoundKernel& kernel, const CompilerOptions& options);

}  // namespace hostir::cuda
