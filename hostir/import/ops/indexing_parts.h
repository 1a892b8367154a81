// Helpers of gather and scatter: lists of dimensions, components of index vectors, and the order of
// windows.
#pragma once

#include "hostir/import/ops/indexing.h"

namespace hostir::importer {

using Dims = std::vector<int64_t>;

/// The dimensions 0 to rank - 1 without those of a list.
Dims rest_of(size_t rank, const Dims& without);
Dims picked(const Dims& from, const Dims& places);
int64_t volume(const Dims& sizes);
Dims counting(size_t count);
Dims inverse(const Dims& permutation);

/// The dimensions of the indices, in order, without the vector dimension: the batch of windows.
Dims index_batch_dims(const Known& indices, const IndexingNumbers& n);
/// Operand dimensions kept in the window, in order.
Dims kept_dims(const IndexingNumbers& n);
/// The permutation from [batch..., kept window dims in operand order] to the windows' tensor.
Dims windows_permutation(const IndexingNumbers& n, size_t rank);

/// Component `c` of the index vectors, with shape [batch...].
Expected<Known> component(Emitter& e, const Known& indices, const IndexingNumbers& n, size_t c);
Expected<Known> iota_along(Emitter& e, const std::string& element, const Dims& dims, size_t dim);
Expected<Known> clamped(Emitter& e, const Known& x, int64_t low, int64_t high);
/// The element type for index arithmetic; it must hold the product of the sizes.
std::string index_element(const Known& indices);

Attributes dim_only(int64_t dim);
/// Emits a put. A base of zeros needs no operand: the attribute `size` gives the dimension's size.
Expected<Known> put_into(Emitter& e, OpKind kind, const Known& updates, const Known& indices,
                         const Known& base, int64_t dim, const std::string& mode);

}  // namespace hostir::importer
