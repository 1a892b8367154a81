// The decisions of a recorded run, from its log.
//
// Events say which rank was stepped. The table `decision` has the user's decisions between them:
// freezes, thaws, edits, branches. `manual_decisions` returns these in the order in which they were
// taken, for replays that follow every branch. `recorded_line` returns the line of the last branch,
// from start to end, for a debugger that steps along it.
#pragma once

#include <cstdint>
#include <vector>

#include "interp/core/history/history.h"
#include "traces/reader/log_reader.h"

namespace hostir::traces {

/// A decision of the user, with the event before which it was taken.
struct ManualDecision {
  int64_t before_event = 0;
  uint64_t number = 0;  // decisions before it on its branch
  interp::DecisionRecord::Kind kind = interp::DecisionRecord::Kind::kFreeze;
  interp::Rank rank = interp::kNoRank;  // a rank of the run
  interp::RecordedEdit edit;            // kEdit
};

/// All except branches, in order. Errors: `log_damaged`.
Expected<std::vector<ManualDecision>> manual_decisions(Database& database, interp::Rank rank_count);

/// Up to the first gap of a cut log. Errors: `log_damaged`.
Expected<interp::RecordedLine> recorded_line(const LogReader& log, interp::Rank rank_count);

/// How many decisions that line has, and whether the user took any of them. Reads the last event
/// only. Errors: `log_damaged`.
struct RecordedLength {
  uint64_t decisions = 0;
  bool by_hand = false;
};
Expected<RecordedLength> recorded_length(const LogReader& log, interp::Rank rank_count);

}  // namespace hostir::traces
