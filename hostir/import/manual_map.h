// Manual computations inside a fusion: what each device computes becomes one tensor over all.
//
// A value that differs between devices gets one leading dimension per mesh axis along which it
// differs, sharded over that axis, so each device holds its own part. Operations are mapped over
// these dimensions, and collectives become what they mean on them: a psum is a sum over the
// dimension, an all_gather joins it to another one. Propagation and lowering then insert the
// collectives. Axes that are not manual stay with propagation, so a computation may be manual over
// some axes only and may stand beside other operations.
#pragma once

#include "hostir/import/emitter.h"

namespace hostir::importer {

/// Emits a `sdy.manual_computation`. Errors: `import_c8` an operation or replica group inside it
/// that cannot be mapped.
Expected<void> emit_manual(const OpSite& site);

}  // namespace hostir::importer
