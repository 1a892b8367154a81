#include "traces/import/other_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace hostir::traces::import {

namespace {

constexpr int64_t kClocksDifferNs = 20'000'000'000;

using Key = std::pair<std::string, uint64_t>;  // group, sequence number

/// A call that one file completed before another file made it.
struct Contradiction {
  size_t early = 0;  // the files
  size_t late = 0;
  int64_t completed_ns = 0;
  int64_t issued_ns = 0;
  const DumpCall* call = nullptr;
  const DumpGroup* group = nullptr;
};

bool needs_all_members(const DumpCall& call) {
  if (call.shape != DumpCall::Shape::kCollective || !call.call.kind) return false;
  return *call.call.kind == OpKind::all_reduce || *call.call.kind == OpKind::all_gather ||
         *call.call.kind == OpKind::reduce_scatter;
}

/// The contradiction with the longest time between the two, among the files in `among`.
std::optional<Contradiction> find_contradiction(const std::vector<ProcessDump>& dumps,
                                                const std::vector<size_t>& among) {
  std::map<Key, std::pair<int64_t, size_t>> completed;  // the first time, and the file
  for (const size_t d : among) {
    for (const DumpCall& call : dumps[d].calls) {
      if (!needs_all_members(call) || !call.times.finished_ns) continue;
      const Key key = {dumps[d].groups[call.group].name, call.sequence};
      const auto at = completed.try_emplace(key, *call.times.finished_ns, d).first;
      at->second = std::min(at->second, {*call.times.finished_ns, d});
    }
  }
  std::optional<Contradiction> out;
  for (const size_t d : among) {
    for (const DumpCall& call : dumps[d].calls) {
      if (!needs_all_members(call) || !call.times.issued_ns) continue;
      const DumpGroup& group = dumps[d].groups[call.group];
      const auto at = completed.find({group.name, call.sequence});
      if (at == completed.end()) continue;
      const auto [completed_ns, early] = at->second;
      const int64_t apart_ns = *call.times.issued_ns - completed_ns;
      if (apart_ns <= kClocksDifferNs) continue;
      if (out && apart_ns <= out->issued_ns - out->completed_ns) continue;
      out = {early, d, completed_ns, *call.times.issued_ns, &call, &group};
    }
  }
  return out;
}

int64_t first_call_ns(const ProcessDump& dump) {
  int64_t out = INT64_MAX;
  for (const DumpCall& call : dump.calls)
    out = std::min(out, call.times.issued_ns.value_or(INT64_MAX));
  return out;
}

}  // namespace

std::vector<OtherRun> find_other_runs(const std::vector<ProcessDump>& dumps) {
  std::vector<OtherRun> out;
  // A ring buffer that lost its first calls says nothing of when its run began.
  const auto lost = [](const ProcessDump& dump) { return dump.start_lost || dump.sequences_lost; };
  if (std::any_of(dumps.begin(), dumps.end(), lost)) return out;
  std::vector<size_t> kept(dumps.size());
  for (size_t i = 0; i < kept.size(); ++i) kept[i] = i;
  while (const auto found = find_contradiction(dumps, kept)) {
    const auto is_later = [&](size_t d) { return first_call_ns(dumps[d]) > found->completed_ns; };
    if (!is_later(found->late) || is_later(found->early)) return out;
    const auto later = static_cast<size_t>(std::count_if(kept.begin(), kept.end(), is_later));
    const bool drops_later = 2 * later < kept.size();
    const DumpGroup& group = *found->group;
    const std::string name = fmt::format(
        "{} seq {} on {}", record(*found->call->call.kind).mnemonic, found->call->sequence,
        group.description.empty() ? group.name : group.description);
    std::erase_if(kept, [&](size_t d) {
      if (is_later(d) != drops_later) return false;
      out.push_back(
          {d, fmt::format("{} is of {} run: {} makes {} {:.0f} s after {} had completed "
                          "it; it is not read",
                          dumps[d].file, drops_later ? "a later" : "an earlier",
                          dumps[found->late].file, name,
                          static_cast<double>(found->issued_ns - found->completed_ns) / 1e9,
                          dumps[found->early].file)});
      return true;
    });
  }
  return out;
}

}  // namespace hostir::traces::import
