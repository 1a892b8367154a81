// One run from the dumps of its processes.
//
// Every file knows one process. Here the same group in several files becomes one communicator (by
// name, description and members), the same call of several ranks one meeting, a send and its recv
// one pair. Two files of one rank are held against each other. What no file tells stays unknown,
// and what is missing or does not fit is a gap of the run.
#pragma once

#include <string>
#include <vector>

#include "traces/import/process_dump.h"

namespace hostir::traces::import {

/// All dumps must come from one kind of recorder. Errors: `import_rank` (the rank of a file is not
/// known; the message says how to name it), `import_size`.
Expected<model::Run> assemble(std::vector<ProcessDump> dumps);

}  // namespace hostir::traces::import
