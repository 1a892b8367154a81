// Builds a host program from a module whose entry function is one `sdy.manual_computation`. Such a
// module specifies the program of each device and its collectives explicitly.
#pragma once

#include "hostir/import/emit/emitter.h"

namespace hostir::importer {

/// True if the entry function is a single manual computation over a whole mesh, applied to
/// parameters and constants.
bool is_manual(const Module& module, const ModuleFunction& entry);

/// Appends the kernels and the host function. The program must already have the meshes.
Expected<void> build_manual(const Module& module, const ModuleFunction& entry, Program& program,
                            ImportReport& report);

}  // namespace hostir::importer
