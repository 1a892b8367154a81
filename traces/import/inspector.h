// NCCL Inspector's logs: one JSON object per finished operation, with its time and bandwidth.
//
// Only what finished is written, numbered per kind: who wrote fewer of a kind is behind, who hangs
// wrote nothing of it. Each kind of a communicator becomes a communicator of its own here.
#pragma once

#include <string_view>
#include <vector>

#include "traces/import/process_dump.h"

namespace hostir::traces::import {

bool looks_like_inspector(std::string_view head);
/// One dump per rank of the lines; a cut line is counted in a remark.
std::vector<ProcessDump> read_inspector(std::string_view text);

}  // namespace hostir::traces::import
