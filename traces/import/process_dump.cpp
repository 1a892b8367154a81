#include "traces/import/process_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace hostir::traces::import {

namespace {

std::string name_of_group(const ProcessDump& dump, const std::string& name) {
  const auto at = std::find_if(dump.groups.begin(), dump.groups.end(),
                               [&](const DumpGroup& group) { return group.name == name; });
  return at == dump.groups.end() || at->description.empty() ? name : at->description;
}

}  // namespace

using model::MemberState;

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

}  // namespace hostir::traces::import
