#include "traces/import/assemble/other_runs.h"

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

/// When the first and the last call of a file were made.
struct Span {
  int64_t first_ns = INT64_MAX;
  int64_t last_ns = 0;
};
Span span_of(const ProcessDump& dump) {
  Span span;
  for (const DumpCall& call : dump.calls) {
    if (!call.times.issued_ns) continue;
    span.first_ns = std::min(span.first_ns, *call.times.issued_ns);
    span.last_ns = std::max(span.last_ns, *call.times.issued_ns);
  }
  return span;
}

/// Moves the files whose calls were all made long before the first one of the newest files from
/// `kept` to `out`.
void drop_long_ended(const std::vector<ProcessDump>& dumps, std::vector<size_t>& kept,
                     std::vector<OtherRun>& out) {
  constexpr int64_t kLeastNs = 600'000'000'000;  // a stopped rank's record ends that long before
  std::vector<std::pair<Span, size_t>> spans;
  for (const size_t i : kept) {
    const Span span = span_of(dumps[i]);
    if (span.last_ns > 0) spans.emplace_back(span, i);
  }
  std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) {
    return std::tuple(b.first.last_ns, a.second) < std::tuple(a.first.last_ns, b.second);
  });
  int64_t begin_ns = INT64_MAX;
  int64_t gap_ns = kLeastNs;
  bool reached = false;
  for (const auto& [span, i] : spans) {
    for (const DumpCall& call : dumps[i].calls) {
      const int64_t timeout_ms = std::min(call.timeout_ms.value_or(0), INT64_MAX / 2'000'000);
      gap_ns = std::max(gap_ns, 2 * timeout_ms * 1'000'000);
    }
    reached = reached || (begin_ns != INT64_MAX && begin_ns - span.last_ns > gap_ns);
    if (!reached) {
      begin_ns = std::min(begin_ns, span.first_ns);
      continue;
    }
    out.push_back({i, fmt::format("rank {}: {} is of an earlier run, its last call was made {} min "
                                  "before the first one of the newer files; it is not read",
                                  *dumps[i].rank, dumps[i].file,
                                  (begin_ns - span.last_ns) / 60'000'000'000)});
    std::erase(kept, i);
  }
}

/// Moves files that cannot be of one run with the others from `kept` to `out`.
void drop_contradicting(const std::vector<ProcessDump>& dumps, std::vector<size_t>& kept,
                        std::vector<OtherRun>& out) {
  // A ring buffer that lost its first calls says nothing of when its run began.
  const auto lost = [&](size_t d) { return dumps[d].start_lost || dumps[d].sequences_lost; };
  if (std::any_of(kept.begin(), kept.end(), lost)) return;
  while (const auto found = find_contradiction(dumps, kept)) {
    const auto is_later = [&](size_t d) {
      return span_of(dumps[d]).first_ns > found->completed_ns;
    };
    if (!is_later(found->late) || is_later(found->early)) return;
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
}

}  // namespace

std::vector<OtherRun> find_other_runs(const std::vector<ProcessDump>& dumps) {
  std::vector<OtherRun> out;
  std::vector<size_t> kept(dumps.size());
  for (size_t i = 0; i < kept.size(); ++i) kept[i] = i;
  drop_long_ended(dumps, kept, out);
  drop_contradicting(dumps, kept, out);
  return out;
}

}  // namespace hostir::traces::import
