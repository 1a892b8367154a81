// Finds the ledger row that ended a run because its members disagreed. No drawing.
#pragma once

#include <vector>

#include "interp/session/snapshots/snapshot.h"

namespace hostir::gui {

/// The row that ended the run, or null. Scans the whole ledger; panels use the cached
/// `Model::mismatch`.
const interp::LedgerRow* mismatch_of(const interp::Snapshot& shot);

/// The ranks of the row that have arrived, odd ones first: the side blamed by the cause, then other
/// small sides, then the majority. If all sides look alike, the rank that ended the run comes
/// first.
std::vector<interp::Rank> callers_of(const interp::Snapshot& shot, const interp::LedgerRow& row);

}  // namespace hostir::gui
