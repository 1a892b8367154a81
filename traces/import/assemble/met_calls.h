// Which calls have completed, in files that record calls but not their ends (NCCL_DEBUG, a clog
// without S and E lines).
#pragma once

#include <vector>

#include "traces/import/process_dump.h"

namespace hostir::traces::import {

/// Only the last call of a group can be in flight, because the earlier ones were followed by
/// another call. Marks those as completed.
void complete_followed_calls(ProcessDump& dump);

/// Compares the files: a rank's last call has completed if another member went on from the same
/// call. No call has completed that a member lacks, or that follows such a call in its group.
/// Cost: O(calls).
void settle_met_calls(const std::vector<ProcessDump>& dumps, model::Run& run);

}  // namespace hostir::traces::import
