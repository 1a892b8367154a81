// Composites (softmax, attention, ...) become the ops that their records expand them into.
//
//   1. Instructions in order; each composite that is wanted is replaced by what its `expand`
//   appends.
//   2. The last of those takes over the result's name and annotation.
//   3. Again, until none is left: composites may expand into composites.
//   4. What only an expansion made and nobody uses is dropped.
// With `Origins::kNoted` every instruction then says by `from(...)` which one of the given fusion
// it came from.
#pragma once

#include "hostir/ops/record.h"

namespace hostir {

enum class Origins : uint8_t { kNone, kNoted };

/// `wanted` null: all composites. Errors: those of the records' expand.
Expected<Function> expand_composites(const Function& fusion, Origins origins,
                                     bool (*wanted)(const OpRecord&) = nullptr);

}  // namespace hostir
