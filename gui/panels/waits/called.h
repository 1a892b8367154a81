// What the ranks of a mismatch called, as rows of fields. No drawing.
#pragma once

#include <string>
#include <vector>

#include "interp/session/snapshots/ledger_snapshot.h"

namespace hostir::gui {

/// The ranks that made one call from one line, or that have not arrived.
struct CalledRow {
  const interp::LedgerCell* first = nullptr;  // of its first rank
  std::vector<interp::Rank> ranks;            // ascending
  bool expected = false;                      // made by most of all members
  std::vector<std::string> fields;            // by column; empty: not a field of this op
  std::vector<bool> differs;                  // by column
};

struct Called {
  std::vector<std::string> columns;  // fields that some call has: op, dtype, shape, root, ..
  std::vector<CalledRow> rows;  // the expected call first; ranks that have not arrived come last
};

/// A field differs if it is not that of the expected call or, if no call is expected, if not all
/// calls have the same.
Called called_of(const interp::LedgerRow& row);

}  // namespace hostir::gui
