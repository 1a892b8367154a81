// Finds dumps of two runs of a job in one folder, made shortly one after the other: a restart, or a
// mix by mistake. Read as one job, they would accuse ranks that did nothing wrong.
#pragma once

#include <string>
#include <vector>

#include "traces/import/process_dump.h"

namespace hostir::traces::import {

struct OtherRun {
  size_t dump = 0;     // index
  std::string remark;  // why it is of another run, one sentence
};

/// A collective that needs all members cannot be complete before a member calls it. If one was, by
/// more than clocks differ, the later file is of a later run. The run with more files is kept, else
/// the later one. Every dump has its rank.
std::vector<OtherRun> find_other_runs(const std::vector<ProcessDump>& dumps);

}  // namespace hostir::traces::import
