// A joined profile as a run, from which a log is written.
#pragma once

#include "interp/model/run.h"
#include "traces/profile/job_profile.h"

namespace hostir::traces::profile {

/// Kernels and copies become finished tasks, collectives meetings, steps iterations of `%step`.
/// All times are on the common clock.
model::Run to_run(const JobProfile& job);

}  // namespace hostir::traces::profile
