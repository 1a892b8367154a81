// Puts the timeline into the log while it is written, so that opening a log reads no events.
//
// Events are sorted into their tracks as they are delivered; every `kEventsPerChunk` of them become
// one row of `timeline_chunk` (what opening reads) and one row of `timeline_track` per track (what
// zooming in reads). A chunk says which events it covers: all below `next_id`, but for those that
// had not finished. What follows the last chunk is read from the events themselves, so a cut log
// loses nothing. Logs of few events get no chunks. Used by the writer's thread only.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "interp/session/log_records.h"
#include "traces/sqlite.h"
#include "traces/timeline_codec.h"

namespace hostir::traces {

class TimelineStore {
 public:
  TimelineStore() = default;
  static Expected<TimelineStore> create(Database& database, size_t ranks, size_t streams);

  /// A complete event, in order of id.
  Expected<void> add(const interp::LogEvent& event);
  /// An event that had not finished; then, called once more, that has.
  Expected<void> add_late(const interp::LogEvent& event);
  /// What is left over becomes a chunk, where it is worth one.
  Expected<void> finish();

 private:
  static constexpr int64_t kEventsPerChunk = 1 << 18;
  static constexpr int64_t kSmallestChunk = 1 << 15;

  enum class Shown : uint8_t { kNothing, kIssue };  // of the event, before
  void show(const interp::LogEvent& event, Shown before);
  void count(const interp::LogEvent& event);
  size_t track_of(const interp::LogEvent& event) const;
  Expected<void> write_chunk();
  Expected<void> write_track(int64_t id, const Bytes& bytes);

  size_t streams_ = 0;
  std::vector<std::vector<TimelineEvent>> tracks_;
  std::vector<std::vector<interp::LogMemoryPoint>> memory_;  // by rank
  std::set<int64_t> late_;                                   // passed once to `add_late`
  int64_t chunk_ = 0;                                        // that is being made
  int64_t count_ = 0;                                        // events in it
  int64_t next_id_ = 0;
  bool one_branch_ = true;
  uint32_t branch_ = 0;
  uint64_t first_decision_ = 0;
  uint64_t last_decision_ = 0;
  Statement insert_chunk_;
  Statement insert_track_;
};

/// The row of `timeline_track` that holds a track of a chunk; live bytes of a rank follow the
/// tracks.
inline constexpr int64_t kTracksPerChunk = int64_t{1} << 24;
inline int64_t track_row(int64_t chunk, size_t track) {
  return chunk * kTracksPerChunk + static_cast<int64_t>(track);
}

}  // namespace hostir::traces
