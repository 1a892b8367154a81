// The tables `instruction_times`, `exposed_communication` and `peak_memory`, from the timeline.

#include <algorithm>
#include <utility>

#include "traces/computed/computed_tables.h"
#include "traces/reader/log_reader.h"

namespace hostir::traces {

using interp::LogCell;

namespace {

constexpr int64_t kBeginOfTime = std::numeric_limits<int64_t>::min();
constexpr int64_t kEndOfTime = std::numeric_limits<int64_t>::max();

using BusyInterval = std::pair<int64_t, int64_t>;

// Merges what overlaps or touches; the result is in order.
std::vector<BusyInterval> united_intervals(std::vector<BusyInterval> intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::vector<BusyInterval> out;
  for (const BusyInterval& i : intervals) {
    if (out.empty() || i.first > out.back().second) {
      out.push_back(i);
    } else {
      out.back().second = std::max(out.back().second, i.second);
    }
  }
  return out;
}

int64_t length_of(const std::vector<BusyInterval>& united_intervals) {
  int64_t sum = 0;
  for (const BusyInterval& i : united_intervals) sum += i.second - i.first;
  return sum;
}

int64_t overlap_of(const std::vector<BusyInterval>& a, const std::vector<BusyInterval>& b) {
  int64_t sum = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    sum +=
        std::max<int64_t>(0, std::min(a[i].second, b[j].second) - std::max(a[i].first, b[j].first));
    a[i].second < b[j].second ? ++i : ++j;
  }
  return sum;
}

// Collects the intervals of one rank's kernels and communication.
Expected<std::pair<std::vector<BusyInterval>, std::vector<BusyInterval>>> busy_times(
    const LogReader& log, interp::Rank rank, const std::stop_token& stop) {
  std::vector<BusyInterval> compute;
  std::vector<BusyInterval> communication;
  const auto& instructions = log.instructions();
  for (size_t t = 0; t < log.tracks().size(); ++t) {
    const interp::LogTrack& track = log.tracks()[t];
    if (track.rank != rank || track.stream < 0) continue;
    HOSTIR_TRY(log.each_drawn(static_cast<interp::TrackId>(t), kBeginOfTime, kEndOfTime, stop,
                              [&](std::span<const TimelineEvent> events) {
                                for (const TimelineEvent& e : events) {
                                  if (e.end_ns <= e.begin_ns ||
                                      e.instruction() >= instructions.size())
                                    continue;
                                  const interp::LogInstruction& i = instructions[e.instruction()];
                                  if (i.op_class == OpClass::kCommunication) {
                                    communication.emplace_back(e.begin_ns, e.end_ns);
                                  } else if (!i.kernel.empty()) {
                                    compute.emplace_back(e.begin_ns, e.end_ns);
                                  }
                                }
                              }));
  }
  return std::pair(united_intervals(std::move(compute)),
                   united_intervals(std::move(communication)));
}

}  // namespace

Expected<ComputedRows> instruction_times(const LogReader& log, const std::stop_token& stop) {
  ComputedRows::Cells rows;
  for (size_t t = 0; t < log.tracks().size(); ++t) {
    std::vector<interp::Durations> durations;
    HOSTIR_TRY(
        log.durations(static_cast<interp::TrackId>(t), kBeginOfTime, kEndOfTime, durations, stop));
    const interp::LogTrack& track = log.tracks()[t];
    for (size_t i = 0; i < durations.size(); ++i) {
      const interp::Durations& d = durations[i];
      if (d.count() == 0) continue;
      rows.push_back({LogCell(static_cast<int64_t>(i)), LogCell(int64_t{track.rank}),
                      LogCell(track.name), LogCell(d.count()), LogCell(d.total_ns()),
                      LogCell(d.mean_ns()), LogCell(d.median_ns()), LogCell(d.least_ns()),
                      LogCell(d.most_ns()), LogCell(d.deviation_ns()), LogCell(d.longest_event())});
    }
  }
  return rows;
}

Expected<ComputedRows> exposed_communication(const LogReader& log, const std::stop_token& stop) {
  ComputedRows::Cells rows;
  for (interp::Rank rank = 0; rank < log.run().rank_count; ++rank) {
    HOSTIR_ASSIGN_OR_RETURN(const auto busy, busy_times(log, rank, stop));
    const auto& [compute, communication] = busy;
    if (compute.empty() && communication.empty()) continue;
    const int64_t together = overlap_of(compute, communication);
    const int64_t computes = length_of(compute);
    const int64_t communicates = length_of(communication);
    int64_t first = kEndOfTime;
    int64_t last = kBeginOfTime;
    for (const auto* intervals : {&compute, &communication}) {
      if (intervals->empty()) continue;
      first = std::min(first, intervals->front().first);
      last = std::max(last, intervals->back().second);
    }
    rows.push_back({LogCell(int64_t{rank}), LogCell(computes), LogCell(communicates),
                    LogCell(communicates - together), LogCell(together),
                    LogCell(last - first - (computes + communicates - together))});
  }
  return rows;
}

Expected<ComputedRows> peak_memory(const LogReader& log, const std::stop_token& stop) {
  ComputedRows::Cells rows;
  const interp::LogExtent extent = log.extent();
  for (interp::Rank rank = 0; rank < log.run().rank_count; ++rank) {
    HOSTIR_ASSIGN_OR_RETURN(const auto points,
                            log.memory(rank, extent.begin_ns - 1, extent.end_ns + 1, 1, stop));
    const auto most =
        std::max_element(points.begin(), points.end(),
                         [](const auto& a, const auto& b) { return a.live_bytes < b.live_bytes; });
    if (most == points.end()) continue;
    rows.push_back({LogCell(int64_t{rank}), LogCell(most->live_bytes), LogCell(most->time_ns),
                    LogCell(most->event)});
  }
  return rows;
}

}  // namespace hostir::traces
