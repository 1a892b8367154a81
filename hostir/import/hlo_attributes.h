// The attributes of HLO instructions, as those of the StableHLO operations that they become.
#pragma once

#include "hostir/import/hlo_text.h"

namespace hostir::importer {

/// Fills in what handlers ask for: dimensions, bounds, literals, groups. `op` has its name already.
Expected<void> convert_attributes(ModuleOp& op, const HloInstruction& instruction,
                                  const HloComputation& computation, int64_t partitions);

}  // namespace hostir::importer
