// Manual computations inside a fusion: the values of all devices become one tensor.
//
// A value that differs between devices gets one leading dimension per mesh axis along which it
// differs, sharded over that axis, so each device holds its own part. Operations are mapped over
// these dimensions, and collectives become ordinary operations on them: a psum is a sum over the
// dimension, an all_gather joins it to another one. Propagation and lowering then insert the
// collectives. Axes that are not manual stay with propagation, so a computation may be manual over
// only some axes, and may be mixed with other operations.
#pragma once

#include "hostir/import/emit/emitter.h"

namespace hostir::importer {

/// Emits a `sdy.manual_computation`. Errors: `import_c8` an operation or replica group inside it
/// that cannot be mapped.
Expected<void> emit_manual(const OpSite& site);

}  // namespace hostir::importer
