// The host program of a scheduled HLO module: one kernel per instruction, in the order of the
// schedule; pairs of start and done are issue and wait.
#pragma once

#include "hostir/import/emitter.h"
#include "hostir/import/hlo_module.h"

namespace hostir::importer {

/// Appends mesh, kernels and the host function.
Expected<void> build_hlo(const HloModule& hlo, Program& program, ImportReport& report);

}  // namespace hostir::importer
