// From a kernel function and the placements of a launch's operands to a bound kernel.
//
// Sizes are bound from the operands' global shapes. Every value then needs its box on this rank:
// parameters and results have those of the operands; values with a sharding (all of the compiler's
// kernels) have those of their sharding; for what is left, as in kernels written by hand, boxes
// flow through the ops' factor rules, forwards and backwards, until nothing changes. What no rule
// reaches is whole.
#pragma once

#include <span>

#include "kernels/common/bound_kernel.h"

namespace hostir::kernels {

/// Errors: `kernel_operands` another number of operands than the kernel has parameters and results,
/// `kernel_size` sizes that do not match, `kernel_box` boxes that cannot be computed from each
/// other.
Expected<BoundKernel> bind_kernel(const Program& program, const Function& kernel, int32_t rank,
                                  std::span<const Placement* const> parameters,
                                  std::span<const Placement* const> results);

}  // namespace hostir::kernels
