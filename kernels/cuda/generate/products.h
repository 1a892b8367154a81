// Shared by the planners of matrix products.
#pragma once

#include "kernels/cuda/generate/plan.h"

namespace hostir::cuda {

/// A row-major matrix [batch.., m, n] at the start of a buffer.
Matrix dense_matrix(int buffer, const Extents& batch, int64_t m, int64_t n);
/// Merges batch dimensions into the rows if the right operand is one matrix: one tall product.
void join_batch(ProductStep& step);

}  // namespace hostir::cuda
