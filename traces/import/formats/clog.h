// Reads torchcomms' "clog": one text file per process, a line per event (version 1).
//
// A signature line defines an operation once. Q lines enqueue it; S, E and W lines record its
// start, end and wait, matched first in, first out. Sequence numbers in a communicator are derived
// here from the order of Q lines. `leaked` warnings at the end name operations that never finished.
#pragma once

#include <string_view>

#include "hostir/support/expected.h"
#include "traces/import/process_dump.h"

namespace hostir::traces::import {

bool looks_like_clog(std::string_view head);
/// Errors: `clog` (another version). Malformed lines are counted in a remark.
Expected<ProcessDump> read_clog(std::string_view text);

}  // namespace hostir::traces::import
