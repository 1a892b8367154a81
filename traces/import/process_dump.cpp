#include "traces/import/process_dump.h"

#include <algorithm>
#include <map>
#include <set>

namespace hostir::traces::import {

using model::Member;
using model::MemberState;

void complete_followed_calls(ProcessDump& dump) {
  dump.no_completions = true;
  std::map<size_t, DumpCall*> last;  // by group
  for (DumpCall& call : dump.calls) {
    DumpCall*& before = last[call.group];
    if (before != nullptr) before->state = MemberState::kCompleted;
    before = &call;
  }
}

void complete_met_calls(const std::vector<ProcessDump>& dumps, model::Run& run) {
  std::set<model::Rank> concerned;
  for (const ProcessDump& dump : dumps) {
    if (dump.no_completions) concerned.insert(*dump.rank);
  }
  if (concerned.empty()) return;
  for (model::Meeting& meeting : run.meetings) {
    std::vector<Member>& members = meeting.members;
    const auto completed = std::find_if(members.begin(), members.end(), [](const Member& member) {
      return member.state == MemberState::kCompleted;
    });
    if (completed == members.end()) continue;
    const bool met = std::all_of(members.begin(), members.end(), [&](const Member& member) {
      return member.arrived() && agree(member.call, completed->call);
    });
    if (!met) continue;
    for (Member& member : members) {
      if (concerned.contains(member.rank)) member.state = MemberState::kCompleted;
    }
  }
}

}  // namespace hostir::traces::import
