#include "traces/import/process_dump.h"

#include <map>

namespace hostir::traces::import {

void complete_followed_calls(ProcessDump& dump) {
  std::map<size_t, DumpCall*> last;  // by group
  for (DumpCall& call : dump.calls) {
    DumpCall*& before = last[call.group];
    if (before != nullptr) before->state = model::MemberState::kCompleted;
    before = &call;
  }
}

}  // namespace hostir::traces::import
