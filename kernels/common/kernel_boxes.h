// Computes the boxes of a kernel's values with factor rules.
#pragma once

#include <optional>
#include <vector>

#include "hostir/ir/placement.h"
#include "hostir/ir/program.h"

namespace hostir::kernels {

/// Per value and dimension: the range held here, nullopt while unknown.
using ValueRanges = std::vector<std::vector<std::optional<Range>>>;

/// Fills in what follows from the rules of the kernel's ops. `types`: the values' types with
/// constant sizes.
/// Errors: `kernel_box`.
Expected<void> propagate_ranges(const Program& program, const Function& kernel,
                                const std::vector<Type>& types, ValueRanges& ranges);

/// For each operand: the part that the op must read, of the elements that the rank
/// holds, to compute a box of one of its results. Dimensions that the rule does not
/// mention, and operands of ops without a rule, are whole. Errors: those of the op's
/// rule.
Expected<std::vector<Box>> operand_boxes(const Program& program, const Function& kernel,
                                         const Instruction& instruction,
                                         const std::vector<Placement>& values, size_t result,
                                         const Box& box);

/// Which dimensions of a kernel's values are cut together: equal numbers, by value and dimension;
/// -1: cut alone, or whole. nullopt if it matters which part of the global values the kernel works
/// on (random numbers, positions, reshapes): then the computation changes if the boxes are shifted
/// along a group of dimensions. Errors: those of the ops' rules.
Expected<std::optional<std::vector<std::vector<int>>>> dims_cut_together(
    const Program& program, const Function& kernel, const std::vector<Placement>& values);

}  // namespace hostir::kernels
