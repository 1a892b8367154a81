// Inlines calls of functions that contain loops.
//
// A host program runs loops of its entry function only; a kernel unrolls them.
#pragma once

#include "hostir/import/module.h"

namespace hostir::importer {

/// Inlines calls, in the module's first function, of functions that have loops. Calls nested more
/// than 64 deep stay.
void inline_loops(Module& module);

}  // namespace hostir::importer
