// Reads NCCL's RAS report as JSON: how many calls of each kind every rank of a communicator has
// made.
//
// Counters give neither order nor sizes. Each kind of a communicator becomes a separate
// communicator here, whose calls are the counted ones: a rank whose counter is behind has not made
// the newest.
#pragma once

#include <vector>

#include "hostir/io/plain_value.h"
#include "traces/import/process_dump.h"

namespace hostir::traces::import {

bool looks_like_ras(io::PlainView report);
/// One dump per rank in the report; ranks are those of the largest communicator.
std::vector<ProcessDump> read_ras(io::PlainView report);

}  // namespace hostir::traces::import
