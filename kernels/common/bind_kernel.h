// Binds a kernel function to the placements of a launch's operands.
//
// Sizes are bound from the operands' global shapes. Then every value needs its box on this rank.
// Parameters and results have the operands' boxes; values with a sharding (all values in
// compiler-generated kernels) those of their sharding. For the rest, as in hand-written kernels,
// boxes propagate through the ops' factor rules, forwards and backwards, until nothing changes.
// Values that no rule reaches are whole.
//
// A kernel with a sharding rule of its own computes on parts as if they were whole tensors: its
// sizes are those of the parts, and its values have no offset. The rule promises that the results
// are correct.
#pragma once

#include <span>

#include "kernels/common/bound_kernel.h"

namespace hostir::kernels {

/// Errors: `kernel_operands` if the number of operands differs from the kernel's parameters and
/// results, `kernel_size` for sizes that do not match, `kernel_box` for boxes that cannot be
/// derived from each other.
Expected<BoundKernel> bind_kernel(const Program& program, const Function& kernel, int32_t rank,
                                  std::span<const Placement* const> parameters,
                                  std::span<const Placement* const> results);

}  // namespace hostir::kernels
