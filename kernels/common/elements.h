// Where elements of boxes lie in memory, and what a reduction of nothing is.
#pragma once

#include <optional>
#include <span>

#include "hostir/ir/program.h"

namespace hostir::kernels {

/// Row-major strides of extents, in elements.
Extents strides_of(const Extents& extents);

/// Row-major index of an element in the global tensor: what random numbers and iota count by.
int64_t global_linear_index(const Extents& global, std::span<const int64_t> index);

/// The value of a size or bound; nullopt where a size in it is not bound.
std::optional<int64_t> bound_value(const IndexExpr& expr, const SizeBindings& sizes);

/// The neutral element of a reduction, as the dtype holds it.
double real_identity(Reduction kind);
int64_t int_identity(Reduction kind, DType dtype);

}  // namespace hostir::kernels
