// Shared by the planners of matrix products.
#pragma once

#include <optional>

#include "hostir/ir/attribute.h"
#include "kernels/cuda/generate/group.h"
#include "kernels/cuda/generate/plan.h"

namespace hostir::cuda {

/// A row-major matrix [batch.., m, n] at the start of a buffer.
Matrix dense_matrix(int buffer, const Extents& batch, int64_t m, int64_t n);
/// Merges batch dimensions into the rows if the right operand is one matrix: one tall product.
void join_batch(ProductStep& step);
/// The common stride of dimensions merged into one, the last fastest; nullopt if they cannot be
/// merged.
std::optional<int64_t> joined_stride(const Walk& walk, const Extents& extents, const IntList& dims);
/// The product of the extents of `dims`.
int64_t volume_of(const Extents& extents, const IntList& dims);

}  // namespace hostir::cuda
