// Merges two files of one rank, as far as they agree.
#pragma once

#include <string>
#include <vector>

#include "traces/import/process_dump.h"

namespace hostir::traces::import {

struct MergedDump {
  ProcessDump dump;
  std::vector<std::string> contradictions;  // one sentence each
};

/// Keeps the file that reaches further, and adds stacks and states of the other one.
MergedDump merge(ProcessDump a, ProcessDump b);

}  // namespace hostir::traces::import
