// The files of one run, one per process, read as one run.
//
// The files are merged into one log in a temporary place: events in order of issue over all of
// them, clocks aligned by the collectives that two files share, states of ranks from the file of
// the process that ran them. Ranks of which no file is there stay unknown. Who opens the merged log
// needs to know nothing of sets.
#pragma once

#include <string>
#include <vector>

#include "hostir/support/expected.h"

namespace hostir::traces {

/// The logs in a folder (`*.db`), by name. Errors: `log_missing` where there is none.
Expected<std::vector<std::string>> logs_in(const std::string& folder);

/// Writes what all files hold to `target`, a new file. Errors: those of opening; `log_set_differs`
/// where the files are not of one program; `log_set_version` where one has an older schema.
Expected<void> merge_logs(const std::vector<std::string>& paths, const std::string& target);

}  // namespace hostir::traces
