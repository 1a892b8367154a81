// NCCL's own lines (NCCL_DEBUG=INFO with the subsystems INIT and COLL), of one or several
// processes.
//
// `Init` lines tie a process's pointer to a communicator, its rank and size; `opCount` lines are
// calls with count, element type, reduction and root, which nothing else records. They say that a
// call was made, never that it is over: only the last of a communicator may be in flight. Pointers
// are reused, so the newest Init line of a pointer counts.
#pragma once

#include <string_view>
#include <vector>

#include "traces/import/process_dump.h"

namespace hostir::traces::import {

bool looks_like_nccl_debug(std::string_view head);
/// One dump per process; lines that were cut or merged by a launcher are counted in a remark.
std::vector<ProcessDump> read_nccl_debug(std::string_view text);

}  // namespace hostir::traces::import
