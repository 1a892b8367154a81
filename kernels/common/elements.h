// Memory positions of the elements of boxes, and neutral elements of reductions.
#pragma once

#include <span>

#include "hostir/ir/program.h"

namespace hostir::kernels {

/// Row-major strides of extents, in elements.
Extents strides_of(const Extents& extents);

/// Row-major index of an element in the global tensor; the counter of random numbers and iota.
int64_t global_linear_index(const Extents& global, std::span<const int64_t> index);

/// Marks the dimensions that a reduction folds.
std::vector<bool> folded_dims(const Instruction& reduction, size_t rank);

/// The neutral element of a reduction, as representable in the dtype: the largest number of a float
/// without infinity. The int64 of a u64 holds its 64 bits.
double real_identity(Reduction kind, DType dtype);
int64_t int_identity(Reduction kind, DType dtype);

}  // namespace hostir::kernels
