// Finds dumps of several runs of a job in one folder: left from an earlier run, of a restart, or
// mixed by mistake. Read as one job, they would accuse ranks that did nothing wrong.
#pragma once

#include <string>
#include <vector>

#include "traces/import/process_dump.h"

namespace hostir::traces::import {

struct OtherRun {
  size_t dump = 0;     // index
  std::string remark;  // why it is of another run, one sentence
};

/// A file is of an earlier run if all its calls were made long before the first one of the newest
/// files. A collective that needs all members cannot be complete before a member calls it: if one
/// was, by more than clocks differ, the two files are of different runs. Then the run with more
/// files is kept, else the later one. Every dump has its rank.
std::vector<OtherRun> find_other_runs(const std::vector<ProcessDump>& dumps);

}  // namespace hostir::traces::import
