// PyTorch's Flight Recorder: the dump of one process, as a pickle or as JSON (schemas 2.1 to 2.x).
//
// A dump is the process's ring buffer of calls with their state, sizes, element types and Python
// frames. It does not say which rank it is (its file name does), nor roots, reductions, streams.
// Also read: what torchcomms' hook of the same name writes, whose numbers count all communicators.
#pragma once

#include "traces/import/plain_value.h"
#include "traces/import/process_dump.h"

namespace hostir::traces::import {

/// True for a dictionary with a version and entries, group settings or group status.
bool looks_like_flight_recorder(PlainView dump);
/// Errors: `flight_recorder` (another major version, entries that are none).
Expected<ProcessDump> read_flight_recorder(PlainView dump);

}  // namespace hostir::traces::import
