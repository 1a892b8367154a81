// Ops that a rank's tokens are followed through one by one, without the op's sharding rule.
#pragma once

#include "interp/sim/proof/moved_values.h"

namespace hostir::sim::proof {

/// Ops that only move elements, such as slice and concat: the result has the operands' tokens.
/// False if the op is another one, needs elements that the rank's operands lack, or its rule is
/// enough: a transpose or broadcast of a box of one value.
bool move_elements(Algebra& algebra, KernelValues& values, const Instruction& instruction);

/// cumsum: an element is the sum of those before it along the dimension. Elements of one value
/// along one of its dimensions are addends of one sum; other elements must already be parts of a
/// sum. False if the op is another one, or the elements are neither.
bool add_running_sums(Algebra& algebra, MovedValues& moved, KernelValues& values,
                      const Instruction& instruction);

}  // namespace hostir::sim::proof
