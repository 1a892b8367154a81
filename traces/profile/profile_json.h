// A joined profile as a JSON value, to be put into a larger one.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "traces/profile/job_profile.h"

namespace hostir::traces::profile {

/// The fields are described in traces/profile/README.md.
nlohmann::ordered_json json_of(const JobProfile& job);

}  // namespace hostir::traces::profile
