// Waits of streams: the log has the time at which a task became next; the level-of-detail pyramid
// does not.
#include <algorithm>
#include <map>

#include "gui/panels/timeline/timeline_data.h"

namespace hostir::gui {

namespace {

constexpr size_t kMaxWaits = 400;
constexpr int64_t kSeenColumns = 3;
constexpr int64_t kMaxScan = 50000;  // maximum distance between the first and the last candidate

/// A single event with a visible gap before it.
struct Candidate {
  size_t track = 0;  // index into key.tracks
  int64_t free_ns = 0;
  const TimelineRun* run = nullptr;
};

std::vector<Candidate> candidates_of(const interp::LogView& log, const TimelineLanes& lanes,
                                     int64_t column_ns) {
  std::vector<Candidate> out;
  for (size_t t = 0; t < lanes.runs.size(); ++t) {
    const interp::TrackId track = lanes.key.tracks[t];
    if (track >= log.tracks().size() || log.tracks()[track].stream < 0) continue;
    auto free_ns = static_cast<int64_t>(lanes.key.view.from_ns);
    for (const TimelineRun& run : lanes.runs[t]) {
      if (run.count == 1 && run.begin_ns - free_ns > kSeenColumns * column_ns &&
          out.size() < kMaxWaits)
        out.push_back({t, free_ns, &run});
      free_ns = std::max(free_ns, run.end_ns);
    }
  }
  return out;
}

}  // namespace

Expected<void> add_stream_waits(const interp::LogView& log, TimelineLanes& lanes, int64_t column_ns,
                                const std::stop_token& stop) {
  lanes.waits.assign(lanes.runs.size(), {});
  std::vector<Candidate> candidates = candidates_of(log, lanes, column_ns);
  if (candidates.empty()) return {};
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.run->event < b.run->event; });
  interp::EventFilter filter;
  filter.first_id = candidates.front().run->event;
  filter.last_id = std::min(candidates.back().run->event, filter.first_id + kMaxScan);
  filter.limit = kMaxScan;
  for (const Candidate& c : candidates) filter.instructions.push_back(c.run->instruction);
  std::sort(filter.instructions.begin(), filter.instructions.end());
  filter.instructions.erase(std::unique(filter.instructions.begin(), filter.instructions.end()),
                            filter.instructions.end());
  HOSTIR_ASSIGN_OR_RETURN(const auto events, log.events(filter, stop));
  std::map<int64_t, const interp::LogEvent*> by_id;
  for (const interp::LogEvent& e : events) by_id[e.id] = &e;
  for (const Candidate& c : candidates) {
    const auto at = by_id.find(c.run->event);
    if (at == by_id.end() || at->second->host_end_ns == interp::kUnknownNs) continue;
    const interp::LogEvent& e = *at->second;
    const int64_t from = std::max(c.free_ns, e.host_end_ns);
    if (c.run->begin_ns <= from) continue;
    const int64_t ready =
        e.queued_ns == interp::kUnknownNs ? c.run->begin_ns : std::max(e.queued_ns, from);
    lanes.waits[c.track].push_back(
        {from, std::min(ready, c.run->begin_ns), c.run->begin_ns, e.id, c.run->instruction});
  }
  return {};
}

}  // namespace hostir::gui
