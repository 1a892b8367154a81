// The decisions of a recorded run, from its log.
//
// Events say which rank was stepped; the table `decision` says what was decided by hand between
// them: freezes, thaws, edits, branches. `manual_decisions` gives the latter in the order in which
// they were taken, for replays that take every branch; `recorded_line` gives the line of the last
// branch, from start to end, for a debugger that walks on it.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "interp/core/history.h"
#include "traces/log_reader.h"

namespace hostir::traces {

/// A decision by hand, with the event before which it was taken.
struct ManualDecision {
  int64_t before_event = 0;
  uint64_t number = 0;  // decisions before it, on its branch
  interp::DecisionRecord::Kind kind = interp::DecisionRecord::Kind::kFreeze;
  interp::Rank rank = interp::kNoRank;  // one of the run's
  interp::RecordedEdit edit;            // kEdit
};

/// All but branches, in order. Errors: `log_damaged`.
Expected<std::vector<ManualDecision>> manual_decisions(Database& database, interp::Rank rank_count);

/// Up to the first hole of a log that was cut. Empty where the line would have more than
/// `max_decisions`. Errors: `log_damaged`.
Expected<interp::RecordedLine> recorded_line(
    const LogReader& log, interp::Rank rank_count,
    int64_t max_decisions = std::numeric_limits<int64_t>::max());

}  // namespace hostir::traces
