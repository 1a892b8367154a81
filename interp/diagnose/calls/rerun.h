// Turns a repaired job into a new run, so that the next fault in it can be found.
//
// Runs the repaired calls in order, without values. Calls that complete are marked completed, the
// others issued. Only for records without lost calls.
#pragma once

#include <optional>
#include <vector>

#include "interp/diagnose/calls/job_calls.h"
#include "interp/diagnose/recorded.h"

namespace hostir::diagnose {

struct Rerun {
  model::Run run;
  /// By rank: the calls of `run`, in the order of calls_by_rank(run), as calls of the job.
  JobCalls calls;
};

/// `job` is `run` repaired.
Rerun rerun(const model::Run& run, const JobCalls& job);

/// A verdict on the second run, with the calls of the first, whose calls_by_rank() is `calls`.
/// Nothing if its repair changes what the repair of the first has changed already.
std::optional<RecordedVerdict> in_first_run(const Rerun& again,
                                            const std::vector<std::vector<MemberRef>>& calls,
                                            RecordedVerdict verdict);

}  // namespace hostir::diagnose
