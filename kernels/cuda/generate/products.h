// What the planners of matrix products share.
#pragma once

#include "kernels/cuda/generate/plan.h"

namespace hostir::cuda {

/// Row-major [batch.., m, n] from the start of a buffer.
Matrix dense_matrix(int buffer, const Extents& batch, int64_t m, int64_t n);
/// Joins batch dimensions with the rows where the right operand is one matrix: one tall product.
void join_batch(ProductStep& step);

}  // namespace hostir::cuda
