// The timeline on the steps axis: one unit per event, from the rows of the events in view.
#include <algorithm>
#include <map>

#include "gui/panels/timeline/timeline_data.h"

namespace hostir::gui {

namespace {

// Maps rank and stream to the index of the requested lane.
using LaneIndex = std::map<std::pair<interp::Rank, int32_t>, size_t>;

}  // namespace

Expected<TimelineLanes> fetch_steps(const interp::LogView& log, const TimelineKey& key,
                                    const std::stop_token& stop) {
  TimelineLanes out;
  out.key = key;
  out.extent = log.extent();
  out.runs.resize(key.tracks.size());
  out.waits.resize(key.tracks.size());
  const std::vector<EventKind> kinds = event_kinds(log);
  LaneIndex lanes;
  for (size_t i = 0; i < key.tracks.size(); ++i) {
    if (key.tracks[i] >= log.tracks().size()) continue;
    const interp::LogTrack& track = log.tracks()[key.tracks[i]];
    lanes[{track.rank, track.stream}] = i;
  }
  interp::EventFilter filter;
  filter.first_id = std::max<int64_t>(0, static_cast<int64_t>(key.view.from_ns));
  filter.last_id = static_cast<int64_t>(key.view.to_ns);
  filter.limit = 3 * kMaxSteps;  // the view and its margins
  filter.shown_only = true;      // undone events leave gaps
  if (filter.last_id < filter.first_id || key.tracks.empty()) return out;
  HOSTIR_ASSIGN_OR_RETURN(const auto events, log.events(filter, stop));
  out.first_step = filter.first_id;
  for (const interp::LogEvent& e : events) {
    out.decisions.resize(static_cast<size_t>(e.id - filter.first_id), e.decision);
    out.decisions.push_back(e.decision);
    // An enqueued task is a step on two lanes: the host that issues it and the stream that runs it.
    for (const int32_t stream : {-1, e.stream}) {
      const auto lane = lanes.find({e.rank, stream});
      if (lane == lanes.end()) continue;
      const EventKind kind = e.instruction < kinds.size() ? kinds[e.instruction] : EventKind::kHost;
      auto& runs = out.runs[lane->second];
      if (!runs.empty() && runs.back().event == e.id) continue;
      runs.push_back({e.id, e.id + 1, e.id, e.instruction, 1, 1, kind, 4});
    }
  }
  return out;
}

Expected<TimelineOverview> fetch_step_overview(const interp::LogView& log,
                                               const std::stop_token& stop) {
  constexpr int64_t kColumns = 128;
  constexpr int64_t kSample = 8;  // events sampled per column
  TimelineOverview out;
  const int64_t count = log.extent().event_count;
  out.end = static_cast<double>(std::max<int64_t>(1, count));
  const auto columns = static_cast<size_t>(std::clamp<int64_t>(count, 1, kColumns));
  for (auto* row : {&out.compute, &out.communication, &out.host}) row->assign(columns, 0);
  const std::vector<EventKind> kinds = event_kinds(log);
  for (size_t c = 0; c < columns; ++c) {
    interp::EventFilter filter;
    const auto first = static_cast<int64_t>(c) * count / static_cast<int64_t>(columns);
    const auto next = static_cast<int64_t>(c + 1) * count / static_cast<int64_t>(columns);
    filter.first_id = first;
    filter.last_id = std::min(next - 1, first + kSample - 1);
    filter.limit = kSample;
    filter.shown_only = true;
    HOSTIR_ASSIGN_OR_RETURN(const auto events, log.events(filter, stop));
    for (const interp::LogEvent& e : events) {
      const EventKind kind = e.instruction < kinds.size() ? kinds[e.instruction] : EventKind::kHost;
      const bool computes = kind == EventKind::kCompute || kind == EventKind::kMemory;
      (e.stream < 0 ? out.host
       : computes   ? out.compute
                    : out.communication)[c] += 1.0f / static_cast<float>(events.size());
    }
  }
  out.normalise();
  return out;
}

}  // namespace hostir::gui
