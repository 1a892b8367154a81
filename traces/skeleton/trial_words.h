// What stops a skeleton, in the words of the recorded job: its groups, sequence numbers, sizes and
// source lines instead of the generated program's names.
#pragma once

#include <string>

#include "interp/diagnose/calls/job_calls.h"
#include "traces/skeleton/skeleton.h"

namespace hostir::traces {

/// `simulated` is the skeleton of `job` where it stopped, in a deadlock or a mismatch; `recorded`
/// is the run that `job` was made from. Without a full stop.
std::string stop_sentence(const model::Run& recorded, const diagnose::JobCalls& job,
                          const Skeleton& skeleton, const model::Run& simulated);

}  // namespace hostir::traces
