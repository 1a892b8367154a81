// Derives what the results of a kernel stand for from its operands, op by op.
//
// Pointwise ops work element by element. For other ops the operands must be blocks: one box of one
// value, in row-major order. The op's sharding rule then gives the box of the result, and the sums
// over cut dimensions become the result's cover.
#pragma once

#include <set>
#include <string>

#include "interp/sim/proof/kernel_values.h"

namespace hostir::sim::proof {

/// All values of a launch on one rank. `kernel` is bound for this rank; a kernel with a sharding
/// rule of its own counts as one op, and `kernel` has the boxes of the whole values. `values` has
/// the parameters' tokens on entry, and all values' on return. Returns the kernels whose own rules
/// it assumed to be correct, because they were applied to parts of values.
std::set<std::string> evaluate(Algebra& algebra, MovedValues& moved, Side side,
                               const Program& program, const kernels::BoundKernel& kernel,
                               std::vector<Tokens>& values);

}  // namespace hostir::sim::proof
