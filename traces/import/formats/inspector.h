// Reads NCCL Inspector's logs: one JSON object per finished operation, with its time and bandwidth.
//
// Only finished operations are logged, numbered per kind: a rank with fewer calls of a kind is
// behind, and the call that a rank hangs in is not logged. Each kind of a communicator becomes a
// separate communicator here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "traces/import/process_dump.h"

namespace hostir::traces::import {

bool looks_like_inspector(std::string_view head);
/// One dump per process in the lines; truncated lines are counted in a remark.
std::vector<ProcessDump> read_inspector(std::string_view text);
/// What the logs of all processes show together: which rank has finished fewer calls, and which one
/// arrives last. The last to arrive waits for nobody, so its calls take less time than the others'.
std::vector<std::string> inspector_sentences(const std::vector<ProcessDump>& dumps);

}  // namespace hostir::traces::import
