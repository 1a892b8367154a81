// Two files of one rank: what both say, as far as they fit together.
#pragma once

#include <string>
#include <vector>

#include "traces/import/process_dump.h"

namespace hostir::traces::import {

struct MergedDump {
  ProcessDump dump;
  std::vector<std::string> contradictions;  // one sentence each
};

/// The file that reaches further is kept, stacks and states of the other one are added to it.
MergedDump merge(ProcessDump a, ProcessDump b);

}  // namespace hostir::traces::import
