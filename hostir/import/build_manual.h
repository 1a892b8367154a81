// The host program of a module whose entry function is one `sdy.manual_computation`: its author
// says what each device does and which collectives run, so that is what the host program does.
#pragma once

#include "hostir/import/emitter.h"

namespace hostir::importer {

/// Whether the entry function is one manual computation over a whole mesh, on its parameters and
/// constants.
bool is_manual(const Module& module, const ModuleFunction& entry);

/// Appends kernels and the host function. The program's meshes must be there.
Expected<void> build_manual(const Module& module, const ModuleFunction& entry, Program& program,
                            ImportReport& report);

}  // namespace hostir::importer
