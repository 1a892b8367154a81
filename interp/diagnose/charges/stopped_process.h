// Finds ranks whose process cannot continue, inside a call that all its members have reached.
#pragma once

#include <optional>
#include <vector>

#include "interp/diagnose/engine/queues.h"

namespace hostir::diagnose {

struct RecordedVerdict;

struct StoppedProcess {
  std::vector<model::Rank> ranks;    // dead, or stopped by a signal or a debugger; ascending
  std::vector<model::Rank> waiting;  // the other unfinished members; ascending, at least one
  MemberRef at;                      // the first of `ranks` in the call
  MemberRef awaited;                 // one of `waiting` in it
};

/// True if the rank's process has ended or is stopped.
bool is_stopped(const model::Run& run, model::Rank rank);

/// In the oldest unfinished call of some rank; `calls`: calls_by_rank(run).
std::optional<StoppedProcess> find_stopped_process(
    const model::Run& run, const std::vector<std::vector<MemberRef>>& calls);
/// Makes the verdict on it; false if there is none.
bool accuse_stopped_process(const model::Run& run, const std::vector<std::vector<MemberRef>>& calls,
                            RecordedVerdict& out);

}  // namespace hostir::diagnose
