// The row of the ledger that ended a run because its members disagree. No drawing.
#pragma once

#include <vector>

#include "interp/session/snapshot.h"

namespace hostir::gui {

/// The row that ended the run; null: none did. Looks through the whole ledger: windows ask
/// `Model::mismatch`.
const interp::LedgerRow* mismatch_of(const interp::Snapshot& shot);

/// The ranks of the row that have arrived, odd ones first: the side that the cause is about, other
/// small ones, then what most called. Where all read alike, who ended the run is first.
std::vector<interp::Rank> callers_of(const interp::Snapshot& shot, const interp::LedgerRow& row);

}  // namespace hostir::gui
