// From profile files to an answer: reads, joins, and says who waits for whom.
#pragma once

#include <string>
#include <vector>

#include "traces/import/skipped_files.h"
#include "traces/profile/job_profile.h"

namespace hostir::traces::profile {

/// Kineto JSON (plain, gzip) and Nsight Systems SQLite exports; one process or more in each.
/// Unreadable files are added to `skipped`, as long as another one can be read.
/// Errors: that of the first file if none can be read (`kineto_format`, `nsys_format`,
/// `file_open`); `profile_rank`, `profile_size`.
Expected<JobProfile> open_profiles(const std::vector<std::string>& paths,
                                   import::SkippedFiles& skipped);

/// Text for a terminal, to follow sentence(): a table of the ranks, the slowest collectives, notes.
std::string details_text(const JobProfile& job);

}  // namespace hostir::traces::profile
