// From profile files to an answer: reads, joins, and says who waits for whom.
#pragma once

#include <string>
#include <vector>

#include "traces/profile/job_profile.h"

namespace hostir::traces::profile {

/// Kineto JSON (plain, gzip) and Nsight Systems SQLite exports; one process or more in each.
/// Errors: `kineto_format`, `nsys_format`, `profile_rank`, `profile_size`, `file_open`.
Expected<JobProfile> open_profiles(const std::vector<std::string>& paths);

/// Text for a terminal: the sentence, a table of the ranks, the slowest collectives, notes.
std::string to_text(const JobProfile& job);
/// One JSON object; the fields are described in traces/profile/README.md.
std::string to_json(const JobProfile& job);

}  // namespace hostir::traces::profile
