// The end of a recorded run as a snapshot, made from the log alone.
//
// Layouts come from the log's tensors, the ledger from its collectives (of a long run the last
// ones), faults from its faults. What a log does not tell (program counters, queues, contents) is
// not there.
#pragma once

#include <string>

#include "interp/session/snapshot.h"
#include "traces/log_reader.h"

namespace hostir::traces {

/// `why`: why it cannot be stepped. Errors: of reading the log.
Expected<interp::Snapshot> end_of(const LogReader& log, std::string why);

}  // namespace hostir::traces
