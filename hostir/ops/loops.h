// The parts of loops of fusions.
#pragma once

#include <span>
#include <string>

#include "hostir/ops/record.h"

namespace hostir {

/// The values that a yield passes on, without its condition.
std::span<const Operand> yielded_values(const Instruction& yield);
/// Invalid: the loop has no condition.
ValueId condition_of(const Instruction& yield);

bool has_loops(const Function& fusion);

/// True if the expression depends on the loop variable `name`.
bool mentions(const IndexExpr& e, const std::string& name);
/// A tensor's type without its sharding; any other type as it is.
Type without_sharding(Type type);

/// The same fusion, whose loops have no conditions: a further carried value says whether the loop
/// still runs, and where it does not, a pass keeps what it was given.
Expected<Function> without_conditions(const Function& fusion);

}  // namespace hostir
