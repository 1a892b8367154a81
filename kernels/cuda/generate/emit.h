// Emits steps for groups: each function appends to the plan.
#pragma once

#include <vector>

#include "hostir/ir/placement.h"
#include "kernels/cuda/generate/group.h"
#include "kernels/cuda/generate/plan.h"

namespace hostir::cuda {

/// A closed group: one launch, or two if folds go through memory.
void emit_group(const Group& group, Plan& plan);
/// Independent groups without folds in as few launches as possible.
void emit_parts(const std::vector<Group>& parts, Plan& plan);
/// A reshape by global indices; elements outside the operand's box are 0.
void emit_reshape(const Placement& from, int from_buffer, const Placement& to, int to_buffer,
                  Plan& plan);
/// A product, with plain loops as a fallback for what cuBLASLt does not support.
void emit_product(ProductStep step, double flops, Plan& plan);

}  // namespace hostir::cuda
