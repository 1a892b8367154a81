// Replaces composites (softmax, attention, ...) by the ops of their records' `expand`.
//
//   1. Visit the instructions in order. Replace each selected composite by the ops that its
//      `expand` appends.
//   2. The last of those ops takes the result's name and annotation.
//   3. Repeat until no composite is left: composites may expand into composites.
//   4. Drop unused instructions that an expansion added.
// With `Origins::kNoted`, every instruction records in `from(...)` which instruction of the given
// fusion it comes from.
#pragma once

#include <functional>

#include "hostir/ops/record.h"

namespace hostir {

enum class Origins : uint8_t { kNone, kNoted };

/// `wanted` selects the composites; null: all. Errors: those of the records' `expand`.
Expected<Function> expand_composites(Function fusion, Origins origins,
                                     bool (*wanted)(const OpRecord&) = nullptr);

/// Steps 1, 2 and 4 for other replacements: `expand` appends what replaces an instruction that
/// `wanted` selects, and returns a value per result. A result of another rank loses its annotation.
Expected<Function> replace_ops(const Function& fusion,
                               const std::function<bool(const Instruction&)>& wanted,
                               const std::function<std::vector<ValueId>(ops::Builder&)>& expand);

}  // namespace hostir
