#include "traces/import/process_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace hostir::traces::import {

namespace {

std::string name_of_group(const ProcessDump& dump, const std::string& name) {
  const auto at = std::find_if(dump.groups.begin(), dump.groups.end(),
                               [&](const DumpGroup& group) { return group.name == name; });
  return at == dump.groups.end() || at->description.empty() ? name : at->description;
}

}  // namespace

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

void find_older_files(std::vector<ProcessDump>& dumps) {
  constexpr uint64_t kLeastBehind = 2;
  using Key = std::pair<std::string, std::vector<model::Rank>>;
  struct Completed {
    uint64_t sequence = 0;
    model::Rank rank = model::kNoRank;
  };
  const auto needs_all = [](const DumpCall& call) {
    const auto& kind = call.call.kind;
    return call.shape == DumpCall::Shape::kCollective &&
           (kind == OpKind::all_reduce || kind == OpKind::all_gather ||
            kind == OpKind::reduce_scatter || kind == OpKind::all_to_all);
  };
  std::map<Key, Completed> completed;
  std::vector<std::map<Key, uint64_t>> made(dumps.size());
  for (size_t d = 0; d < dumps.size(); ++d) {
    const ProcessDump& dump = dumps[d];
    for (const DumpCall& call : dump.calls) {
      const DumpGroup& group = dump.groups[call.group];
      if (!group.members || call.shape != DumpCall::Shape::kCollective) continue;
      const Key key = {group.name, *group.members};
      uint64_t& last = made[d][key];
      const int64_t enqueued = std::max<int64_t>(group.last_enqueued.value_or(0), 0);
      last = std::max({last, call.sequence, static_cast<uint64_t>(enqueued)});
      Completed& known = completed[key];
      const bool ended = call.state == MemberState::kCompleted && call.times.finished_ns;
      if (ended && needs_all(call) && call.sequence > known.sequence)
        known = {call.sequence, *dump.rank};
    }
  }
  for (size_t d = 0; d < dumps.size(); ++d) {
    for (const auto& [key, last] : made[d]) {
      const Completed& other = completed[key];
      if (dumps[d].cut || other.sequence < last + kLeastBehind) continue;
      dumps[d].cut = true;
      dumps[d].cut_where = fmt::format(
          "with seq {} of {}, and rank {} completed seq {} of it: the file is older than the "
          "others",
          last, name_of_group(dumps[d], key.first), other.rank, other.sequence);
    }
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
