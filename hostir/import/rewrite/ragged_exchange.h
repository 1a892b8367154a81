// The ragged all_to_all, written out before conversion.
//
// Every device sends a slice of its rows to each other one; the places and lengths are data. All
// devices get all rows (an all_gather), and from each sender the places of its rows (an
// all_to_all). Each row of the result is then picked from all rows. The numbers are the same; more
// bytes move than in XLA's version.
#pragma once

#include "hostir/import/module.h"

namespace hostir::importer {

/// Rewrites `@ragged_all_to_all` calls and HLO's `ragged-all-to-all` in all functions. One whose
/// shapes do not fit its definition, or with several slices per device, stays as it is, and becomes
/// opaque.
void write_out_ragged_exchanges(Module& module);

}  // namespace hostir::importer
