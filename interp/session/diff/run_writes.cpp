#include "interp/session/diff/run_writes.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <span>
#include <unordered_map>

#include "hostir/support/lists.h"
#include "interp/session/log/lineage.h"

namespace hostir::interp {

namespace {

constexpr size_t kWritesAtOnce = 16384;
constexpr int64_t kNoMore = std::numeric_limits<int64_t>::max();

// The history of the newest branch, or that of the limit.
Lineage lineage_of(const std::vector<DecisionRecord>& decisions,
                   const std::optional<RunLimit>& limit) {
  std::map<uint32_t, Lineage::Opening> openings;
  uint32_t newest = 0;
  for (const DecisionRecord& d : decisions) {
    if (d.kind != DecisionRecord::Kind::kBranch) continue;
    uint32_t parent = 0;
    std::from_chars(d.detail.data(), d.detail.data() + d.detail.size(), parent);
    openings[d.branch] = {parent, d.number};
    newest = d.branch;
  }
  if (limit) return Lineage(openings, limit->branch, limit->decisions);
  return openings.empty() ? Lineage() : Lineage(openings, newest);
}

// `%x+0:0000e040...`, as the log writes an edit; the same edit on several ranks counts once.
void add_edit(const DecisionRecord& d, std::vector<RunEdit>& edits) {
  const size_t plus = d.detail.find('+');
  const size_t colon = d.detail.find(':');
  if (!d.detail.starts_with('%') || plus == std::string::npos || colon == std::string::npos) return;
  RunEdit edit;
  edit.value = d.detail.substr(1, plus - 1);
  std::from_chars(d.detail.data() + plus + 1, d.detail.data() + colon, edit.offset_bytes);
  edit.data = d.detail.substr(colon + 1);
  edit.decision = d.number;
  edit.ranks = {d.rank};
  if (!edits.empty()) {
    RunEdit& last = edits.back();
    const bool same = last.value == edit.value && last.offset_bytes == edit.offset_bytes &&
                      last.data == edit.data && d.number <= last.decision + last.ranks.size();
    if (same && !contains(last.ranks, d.rank)) {
      last.ranks.push_back(d.rank);
      return;
    }
  }
  edits.push_back(std::move(edit));
}

class Loops {
 public:
  Loops(const LogView& log, std::vector<std::string>& texts) : log_(log), texts_(texts) {
    texts_.emplace_back();
  }
  uint32_t index(LoopPathId path) {
    const auto known = known_.find(path);
    if (known != known_.end()) return known->second;
    std::string text = log_.loop_path(path);
    uint32_t at = 0;
    if (!text.empty()) {
      at = static_cast<uint32_t>(texts_.size());
      texts_.push_back(std::move(text));
    }
    known_[path] = at;
    return at;
  }

 private:
  const LogView& log_;
  std::vector<std::string>& texts_;
  std::unordered_map<LoopPathId, uint32_t> known_;
};

RunWrite compact(const LogValue& v, const LogWrite& place, Loops& loops) {
  RunWrite w;
  w.event = v.event;
  w.row = place.row;
  w.time_ns = v.time_ns;
  w.digest = v.digest;
  w.rank = v.rank;
  w.tensor = static_cast<uint32_t>(v.tensor);
  w.instruction = v.instruction;
  w.loop = loops.index(v.loop_path);
  w.min = static_cast<float>(v.min);
  w.max = static_cast<float>(v.max);
  w.has_stats = v.has_stats;
  w.has_data = v.has_data;
  w.not_finite = v.nan_count + v.inf_count > 0;
  return w;
}

}  // namespace

Expected<RunWrites> read_writes_of(const LogView& log, const std::optional<RunLimit>& limit,
                                   DiffProgress& progress, const std::stop_token& stop) {
  RunWrites run;
  run.finished = log.run().ending == LogEnding::kClosed;
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<DecisionRecord> decisions, log.decisions());
  const Lineage lineage = lineage_of(decisions, limit);
  HOSTIR_ASSIGN_OR_RETURN(run.faults, log.faults());
  run.inputs = log.inputs();
  for (const DecisionRecord& d : decisions) {
    if (d.kind == DecisionRecord::Kind::kEdit && lineage.contains(d.branch, d.number))
      add_edit(d, run.edits);
  }
  Loops loops(log, run.loops);
  WriteFilter filter;
  while (filter.first_event != kNoMore) {
    HOSTIR_ASSIGN_OR_RETURN(const LogWrites found, log.find_writes(filter, stop));
    progress.total += static_cast<int64_t>(found.places.size());
    const std::span<const LogWrite> places(found.places);
    for (size_t at = 0; at < places.size(); at += kWritesAtOnce) {
      if (stop.stop_requested()) return fail(ErrorKind::kRuntime, "log_cancelled", "cancelled");
      const auto part = places.subspan(at, std::min(kWritesAtOnce, places.size() - at));
      HOSTIR_ASSIGN_OR_RETURN(const auto values, log.read_writes(part, std::nullopt, stop));
      size_t i = 0;  // `values` leaves out writes that the log does not have
      for (const LogValue& v : values) {
        while (i < part.size() && part[i].row != v.row) ++i;
        if (i == part.size()) break;
        if (v.event >= 0 && lineage.contains(v.branch, v.decision))
          run.writes.push_back(compact(v, part[i], loops));
        ++i;
      }
      progress.done += static_cast<int64_t>(part.size());
    }
    filter.first_event = found.next_event;
  }
  std::stable_sort(run.writes.begin(), run.writes.end(), [](const RunWrite& a, const RunWrite& b) {
    return a.event != b.event ? a.event < b.event : a.tensor < b.tensor;
  });
  return run;
}

}  // namespace hostir::interp
