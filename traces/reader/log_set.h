// Reads the files of one run, one per process, as one run.
//
// The files are merged into one log in a temporary folder: events in order of issue over all files,
// clocks aligned by the collectives that two files share, states of ranks from the file of the
// process that ran them. Ranks without a file stay unknown. Readers of the merged log need not know
// about sets.
#pragma once

#include <string>
#include <vector>

#include "hostir/support/expected.h"

namespace hostir::traces {

/// The logs in a folder (`*.db`), by name. Errors: `log_missing` if there are none.
Expected<std::vector<std::string>> logs_in(const std::string& folder);

/// Merges all files into `target`, a new file.
/// Errors: those of opening; `log_set_differs` if the files are of different programs;
/// `log_set_version` if one has an older schema.
Expected<void> merge_logs(const std::vector<std::string>& paths, const std::string& target);

}  // namespace hostir::traces
