// Builds a host program from a scheduled HLO module: one kernel per instruction, in schedule order.
// A start instruction becomes the issue of a collective, the matching done becomes the wait.
#pragma once

#include "hostir/import/emit/emitter.h"
#include "hostir/import/hlo/hlo_module.h"
#include "hostir/import/import_options.h"

namespace hostir::importer {

/// Appends the mesh, the kernels and the host function.
Expected<void> build_hlo(const HloModule& hlo, const ResultShapes& shapes, Program& program,
                         ImportReport& report);

}  // namespace hostir::importer
