// Reads PyTorch's Flight Recorder: the dump of one process, as a pickle or as JSON (schemas 2.1 to
// 2.x).
//
// A dump is the process's ring buffer of calls with their state, sizes, element types and Python
// frames. It does not contain its rank (the file name does), roots, reductions or streams. Also
// reads the output of torchcomms' hook of the same name, whose numbers span all communicators.
#pragma once

#include "hostir/io/plain_value.h"
#include "traces/import/process_dump.h"

namespace hostir::traces::import {

/// True for a dictionary with a version and entries, group settings or group status.
bool looks_like_flight_recorder(io::PlainView dump);
/// Errors: `flight_recorder` (another major version, malformed entries).
Expected<ProcessDump> read_flight_recorder(io::PlainView dump);

}  // namespace hostir::traces::import
