// Converts attributes of HLO instructions to those of the equivalent StableHLO operations.
#pragma once

#include "hostir/import/hlo/hlo_text.h"

namespace hostir::importer {

/// Fills in the attributes that handlers need: dimensions, bounds, literals, groups. `op.name` must
/// be set.
Expected<void> convert_attributes(ModuleOp& op, const HloInstruction& instruction,
                                  const HloComputation& computation, int64_t partitions);

}  // namespace hostir::importer
