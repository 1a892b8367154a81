// Assembles one run from the dumps of its processes.
//
// Each file describes one process. The same group in several files becomes one communicator
// (matched by name, description and members), the same call of several ranks one meeting, a send
// and its recv one pair. Two files of the same rank are cross-checked. What no file contains stays
// unknown; missing or contradictory data becomes a gap of the run.
#pragma once

#include <string>
#include <vector>

#include "traces/import/process_dump.h"

namespace hostir::traces::import {

/// All dumps must be from one kind of recorder.
/// Errors: `import_rank` (the rank of a file is unknown; the message says how to name it),
/// `import_size`.
Expected<model::Run> assemble(std::vector<ProcessDump> dumps);

}  // namespace hostir::traces::import
