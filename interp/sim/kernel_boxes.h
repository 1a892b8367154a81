// Boxes of a kernel's values by factor rules.
#pragma once

#include <optional>
#include <vector>

#include "hostir/ir/program.h"

namespace hostir::sim {

/// Per value and dimension: the range held here, nullopt while unknown.
using ValueRanges = std::vector<std::vector<std::optional<Range>>>;

/// Fills in what follows from the rules of the kernel's ops. `types` are the values' types with
/// constant sizes. Errors: `kernel_box`.
Expected<void> propagate_ranges(const Program& program, const Function& kernel,
                                const std::vector<Type>& types, ValueRanges& ranges);

}  // namespace hostir::sim
