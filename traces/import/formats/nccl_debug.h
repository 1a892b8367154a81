// Reads NCCL's log lines (NCCL_DEBUG=INFO with the subsystems INIT and COLL), of one or several
// processes.
//
// `Init` lines map a process's pointer to a communicator, its rank and size. `opCount` lines are
// calls with count, element type, reduction and root, which no other format records. They show that
// a call was made, but not its completion: only the last call of a communicator may be in flight.
// Pointers are reused, so the newest Init line of a pointer counts.
#pragma once

#include <string_view>
#include <vector>

#include "traces/import/process_dump.h"

namespace hostir::traces::import {

bool looks_like_nccl_debug(std::string_view head);
/// One dump per process; lines truncated or interleaved by a launcher are counted in a remark.
std::vector<ProcessDump> read_nccl_debug(std::string_view text);

}  // namespace hostir::traces::import
