// Stores the timeline in the log while it is written, so that opening a log reads no events.
//
// Events are sorted into their tracks as they are delivered. Every `kEventsPerChunk` events become
// one row of `timeline_chunk` (read on opening) and one row of `timeline_track` per track (read
// when zooming in). A chunk covers all events below its `next_id`, except those that had not
// finished. Events after the last chunk are read directly, so a cut log loses nothing. Logs of few
// events get no chunks. Used only by the writer's thread.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "interp/session/log/log_records.h"
#include "traces/database/sqlite.h"
#include "traces/timeline/timeline_codec.h"

namespace hostir::traces {

class TimelineStore {
 public:
  TimelineStore() = default;
  /// `group_streams`: see LogTables.
  static Expected<TimelineStore> create(Database& database, size_t ranks, size_t streams,
                                        std::vector<int32_t> group_streams);

  /// Adds a complete event, in order of id.
  Expected<void> add(const interp::LogEvent& event);
  /// Adds an unfinished event; called again when it has finished.
  Expected<void> add_late(const interp::LogEvent& event);
  /// Writes the remaining events as a chunk if there are enough of them.
  Expected<void> finish();

 private:
  static constexpr int64_t kEventsPerChunk = 1 << 18;
  static constexpr int64_t kSmallestChunk = 1 << 15;

  enum class Shown : uint8_t { kNothing, kIssue };  // earlier state of the event
  void show(const interp::LogEvent& event, Shown before);
  void count(const interp::LogEvent& event);
  size_t track_of(const interp::LogEvent& event) const;
  Expected<void> write_chunk();
  Expected<void> write_track(int64_t id, const Bytes& bytes);

  size_t streams_ = 0;
  std::vector<int32_t> group_streams_;
  std::vector<std::vector<TimelineEvent>> tracks_;
  std::vector<std::vector<interp::LogMemoryPoint>> memory_;  // by rank
  std::set<int64_t> late_;                                   // passed once to `add_late`
  int64_t chunk_ = 0;                                        // the current one
  int64_t count_ = 0;                                        // events in it
  int64_t next_id_ = 0;
  bool one_branch_ = true;
  uint32_t branch_ = 0;
  uint64_t first_decision_ = 0;
  uint64_t last_decision_ = 0;
  Statement insert_chunk_;
  Statement insert_track_;
};

/// The row of `timeline_track` for a track of a chunk; ranks' live bytes come after the tracks.
inline constexpr int64_t kTracksPerChunk = int64_t{1} << 24;
inline int64_t track_row(int64_t chunk, size_t track) {
  return chunk * kTracksPerChunk + static_cast<int64_t>(track);
}

}  // namespace hostir::traces
