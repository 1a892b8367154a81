#include "traces/timeline/timeline_store.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hostir/support/hash.h"
#include "traces/timeline/timeline.h"

namespace hostir::traces {

using interp::LogEvent;
using interp::LogMemoryPoint;

Expected<TimelineStore> TimelineStore::create(Database& database, size_t ranks, size_t streams,
                                              std::vector<int32_t> group_streams) {
  if (ranks * (streams + 2) > static_cast<size_t>(kTracksPerChunk)) {
    return fail(ErrorKind::kRuntime, "log_too_large",
                fmt::format("a log has room for {} tracks, but {} ranks with {} streams each need "
                            "{}; run fewer ranks, or leave out --trace",
                            kTracksPerChunk, ranks, streams, ranks * (streams + 2)));
  }
  TimelineStore store;
  store.group_streams_ = std::move(group_streams);
  store.streams_ = streams;
  store.tracks_.resize(ranks * (streams + 1));
  store.memory_.resize(ranks);
  HOSTIR_ASSIGN_OR_RETURN(
      store.insert_chunk_,
      database.prepare("INSERT INTO timeline_chunk (id, next_id, branch, first_decision, "
                       "last_decision, open, checksum, summary) VALUES (?,?,?,?,?,?,?,?)"));
  HOSTIR_ASSIGN_OR_RETURN(
      store.insert_track_,
      database.prepare("INSERT INTO timeline_track (id, checksum, events) VALUES (?,?,?)"));
  return store;
}

size_t TimelineStore::track_of(const LogEvent& event) const {
  return static_cast<size_t>(event.rank) * (streams_ + 1) + static_cast<size_t>(event.stream + 1);
}

void TimelineStore::show(const LogEvent& logged, Shown before) {
  LogEvent event = logged;
  const bool grouped = event.stream < 0 && event.task != interp::kNoTask;
  if (grouped && event.instruction < group_streams_.size())
    event.stream = group_streams_[event.instruction];
  const auto draw = [this](const LogEvent& e) {
    const auto drawn = Timeline::event_of(e);
    const size_t track = track_of(e);
    if (drawn && track < tracks_.size()) tracks_[track].push_back(*drawn);
  };
  if (before == Shown::kNothing || event.stream >= 0) draw(event);
  if (before == Shown::kNothing && event.stream >= 0) {
    LogEvent issue = event;  // while being issued, it is also on its host's track
    issue.stream = -1;
    draw(issue);
  }
  const int64_t end = event.end_ns();
  if (event.live_bytes < 0 || end == interp::kUnknownNs) return;
  const auto rank = static_cast<size_t>(event.rank);
  if (rank < memory_.size()) memory_[rank].push_back({end, event.live_bytes, event.id});
}

void TimelineStore::count(const LogEvent& event) {
  if (count_++ == 0) {
    branch_ = event.branch;
    one_branch_ = true;
    first_decision_ = last_decision_ = event.decision;
  }
  one_branch_ = one_branch_ && event.branch == branch_;
  first_decision_ = std::min(first_decision_, event.decision);
  last_decision_ = std::max(last_decision_, event.decision);
}

Expected<void> TimelineStore::add(const LogEvent& event) {
  count(event);
  next_id_ = event.id + 1;
  show(event, Shown::kNothing);
  return count_ >= kEventsPerChunk ? write_chunk() : Expected<void>{};
}

Expected<void> TimelineStore::add_late(const LogEvent& event) {
  count(event);
  if (late_.erase(event.id) != 0) {
    show(event, Shown::kIssue);
  } else {
    late_.insert(event.id);
    next_id_ = std::max(next_id_, event.id + 1);
    show(event, Shown::kNothing);
  }
  return count_ >= kEventsPerChunk ? write_chunk() : Expected<void>{};
}

Expected<void> TimelineStore::finish() {
  return count_ >= kSmallestChunk ? write_chunk() : Expected<void>{};
}

Expected<void> TimelineStore::write_track(int64_t id, const Bytes& bytes) {
  insert_track_.bind_int(1, id);
  insert_track_.bind_int(2, static_cast<int64_t>(hash_of(bytes)));
  insert_track_.bind_blob(3, bytes);
  return insert_track_.run();
}

Expected<void> TimelineStore::write_chunk() {
  ChunkSummary summary;
  for (size_t track = 0; track < tracks_.size(); ++track) {
    std::vector<TimelineEvent>& events = tracks_[track];
    if (events.empty()) continue;
    if (!std::is_sorted(events.begin(), events.end(), begins_before)) {
      std::stable_sort(events.begin(), events.end(), begins_before);
    }
    summary.tracks.push_back(summary_of(static_cast<interp::TrackId>(track), events));
    HOSTIR_TRY(write_track(track_row(chunk_, track), encode(events)));
    events.clear();
  }
  for (size_t rank = 0; rank < memory_.size(); ++rank) {
    std::vector<LogMemoryPoint>& points = memory_[rank];
    if (points.empty()) continue;
    std::stable_sort(
        points.begin(), points.end(),
        [](const LogMemoryPoint& a, const LogMemoryPoint& b) { return a.time_ns < b.time_ns; });
    summary.memory.push_back(summary_of(static_cast<interp::Rank>(rank), points));
    HOSTIR_TRY(write_track(track_row(chunk_, tracks_.size() + rank), encode(points)));
    points.clear();
  }
  const Bytes bytes = encode(summary);
  const std::string open = fmt::format("[{}]", fmt::join(late_, ","));
  Statement& s = insert_chunk_;
  s.bind_int(1, chunk_++);
  s.bind_int(2, next_id_);
  one_branch_ ? s.bind_int(3, branch_) : s.bind_null(3);
  s.bind_int(4, static_cast<int64_t>(first_decision_));
  s.bind_int(5, static_cast<int64_t>(last_decision_));
  s.bind_text(6, open);
  s.bind_int(7, static_cast<int64_t>(hash_of(bytes)));
  s.bind_blob(8, bytes);
  count_ = 0;
  return s.run();
}

}  // namespace hostir::traces
