// StableHLO's batch normalisation and its gradient, written out in sums and pointwise operations
// before conversion.
//
// The language has no op for them. XLA expands them the same way, so a sharded batch gets the same
// all-reduces.
#pragma once

#include "hostir/import/module.h"

namespace hostir::importer {

/// Rewrites `batch_norm_training`, `batch_norm_inference` and `batch_norm_grad` in all functions.
/// An operation whose shapes, types or attributes do not fit its definition stays as it is, and
/// becomes opaque.
void write_out_batch_norms(Module& module);

}  // namespace hostir::importer
