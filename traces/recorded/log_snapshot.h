// The end of a recorded run as a snapshot, made from the log alone.
//
// Layouts come from the log's tensors, everything else from the log's model::Run (log_model.h): a
// run that was cut during a hang shows the hang. Faults are the logged ones, else the verdict of
// interp/diagnose. What a log does not contain is unknown.
#pragma once

#include <string>

#include "interp/session/snapshots/snapshot.h"
#include "traces/reader/log_reader.h"

namespace hostir::traces {

/// `why`: the reason why it cannot be stepped; empty if it can. Errors: those of reading the log.
Expected<interp::Snapshot> end_of(const LogReader& log, std::string why);

}  // namespace hostir::traces
