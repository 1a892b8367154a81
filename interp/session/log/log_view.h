// The debugger's and the GUI's read access to a log, of a recorded run or of the one being
// recorded.
//
// A reader never blocks the writer. This interface does not expose SQLite; `traces` implements it,
// tests may implement it in memory.
// Threads: all functions may be called from any thread. Long ones take a `std::stop_token` and
// return `log_cancelled` soon after it is stopped. What `open` loads (run, tracks, instructions,
// tensors) does not change during the life of the view. Rows of a live log appear on `refresh()`.
// Absent: writing, replay, and any debugger state.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hostir/ir/tensor.h"
#include "hostir/support/expected.h"
#include "interp/core/decision_record.h"
#include "interp/session/log/durations.h"
#include "interp/session/log/log_records.h"

namespace hostir::interp {

/// Selects events. Empty lists mean "all"; all given conditions must hold.
struct EventFilter {
  std::vector<Rank> ranks;
  std::vector<int32_t> streams;  // -1: host
  std::vector<CodeIndex> instructions;
  std::vector<std::string> mnemonics;
  std::optional<uint32_t> branch;
  std::optional<std::pair<CommIndex, uint64_t>> meeting;  // collectives only: (comm, sequence)
  int64_t from_ns = std::numeric_limits<int64_t>::min();  // selects events that overlap [from, to)
  int64_t to_ns = std::numeric_limits<int64_t>::max();
  int64_t first_id = 0;  // paging: events with id >= first_id, in order of id
  int64_t last_id = std::numeric_limits<int64_t>::max();
  int64_t limit = 1000;
  bool shown_only = false;  // excludes what was undone (see `shows`)
};

/// What a track shows in one interval at some zoom level.
struct TimelineSlice {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t event = -1;         // the longest event in it
  CodeIndex instruction = 0;  // of that event
  uint32_t count = 0;         // events in it; if 1, the slice is exactly this event
  int64_t busy_ns = 0;        // time covered by events
};

struct TimelineRequest {
  TrackId track = 0;
  int64_t from_ns = 0;
  int64_t to_ns = 0;
  int32_t columns = 1000;  // pixels: at most one slice begins in each
};

/// The time one instruction took on one track within an interval.
struct TimelineSum {
  TrackId track = 0;
  CodeIndex instruction = 0;
  int64_t count = 0;    // events that overlap the interval
  int64_t busy_ns = 0;  // their time within the interval
};

/// Selects writes.
struct WriteFilter {
  std::string value;  // name without '%': all tensors of that name in any layout; empty: all
  Rank rank = kNoRank;
  /// Global index: only ranks that hold it. Ignored if its length differs from the tensor's rank.
  std::optional<std::vector<int64_t>> element = std::nullopt;
  int64_t first_event = -1;
  bool shown_only = false;  // excludes what was undone (see `shows`)
};

/// Progress of reading a large log, in events.
struct LogProgress {
  int64_t read = 0;
  int64_t total = 0;
  bool reading = false;
};

struct LogExtent {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t event_count = 0;
  uint64_t generation = 0;  // changes when refresh() found something
};

class LogView {
 public:
  virtual ~LogView() = default;

  // ---- known since opening; references live as long as the view
  virtual const LogRun& run() const = 0;
  virtual const std::vector<LogTrack>& tracks() const = 0;
  virtual const std::vector<LogInstruction>& instructions() const = 0;
  virtual const std::vector<LogCommunicator>& communicators() const = 0;
  virtual const std::vector<LogTensor>& tensors() const = 0;
  virtual const std::vector<LogExplain>& explanations() const = 0;
  virtual const std::vector<LogInput>& inputs() const = 0;

  /// Reads what a live run has logged since the last call; cheap if nothing is new. A closed log
  /// never changes.
  /// Errors: `log_damaged`, `log_cancelled`.
  virtual Expected<LogExtent> refresh(std::stop_token stop = {}) = 0;
  virtual LogExtent extent() const = 0;
  /// Whether the log is being written now, as far as the last refresh() knows; `run().ending` is
  /// what it was at opening. Never blocks.
  virtual LogEnding ending() const { return run().ending; }
  /// Progress of a running refresh; what has been read so far is already visible. Never blocks.
  virtual LogProgress progress() const = 0;

  /// True if an event belongs to the shown history: the newest branch and its ancestors. Steps that
  /// were undone and replaced stay in the log. True for -1, no event.
  virtual bool shows(int64_t event) const = 0;

  // ---- rows
  /// The events of a track in the range, reduced to at most 2 * columns slices, ordered by begin.
  /// Served from memory in about a millisecond at any zoom level.
  virtual std::vector<TimelineSlice> timeline(const TimelineRequest& request) const = 0;
  /// Exact sums over [from, to) for all tracks, ordered by track, instruction.
  virtual std::vector<TimelineSum> sums(int64_t from_ns, int64_t to_ns) const = 0;
  virtual Expected<std::vector<LogEvent>> events(const EventFilter& filter,
                                                 std::stop_token stop = {}) const = 0;
  /// Errors: `log_no_event`.
  virtual Expected<LogEvent> event(int64_t id) const = 0;
  /// "3.0" = iteration 3 of the outer loop, 0 of the inner; empty outside of loops.
  virtual std::string loop_path(LoopPathId path) const = 0;
  /// The ledger, ordered by start, then communicator, sequence, rank.
  virtual Expected<std::vector<LogCollective>> collectives(const EventFilter& filter,
                                                           std::stop_token stop = {}) const = 0;
  /// Live bytes of a rank over time; at most about `columns` points (the peak of each column).
  virtual Expected<std::vector<LogMemoryPoint>> memory(Rank rank, int64_t from_ns, int64_t to_ns,
                                                       int32_t columns,
                                                       std::stop_token stop = {}) const = 0;
  /// Locations of the writes, oldest first, one page at a time, so that a list of any length can be
  /// counted and read only where it is displayed. Costs a quarter of a microsecond per write.
  virtual Expected<LogWrites> find_writes(const WriteFilter& filter,
                                          std::stop_token stop = {}) const = 0;
  /// The writes at these locations, in the same order; locations that are not in the log are left
  /// out. With `element`, also its value if the log has the contents.
  virtual Expected<std::vector<LogValue>> read_writes(
      std::span<const LogWrite> places, const std::optional<std::vector<int64_t>>& element,
      std::stop_token stop = {}) const = 0;
  /// The local contents left by a write, with the extents of its rank's box; `row` identifies the
  /// write.
  /// Errors: `log_no_data` if the log did not keep them (--trace-values data=GLOB).
  virtual Expected<Tensor> contents(const LogWrite& place) const = 0;
  /// Both in one call, for lists that are needed completely.
  Expected<std::vector<LogValue>> writes(WriteFilter filter, std::stop_token stop = {}) const;
  virtual Expected<std::vector<FaultRecord>> faults() const = 0;
  virtual Expected<std::vector<DecisionRecord>> decisions() const = 0;

  /// Any read-only SQL; at most `max_rows` rows.
  /// Errors: `log_sql` with SQLite's message, `log_cancelled`.
  virtual Expected<LogTable> query(std::string_view sql, int64_t max_rows = 100000,
                                   std::stop_token stop = {}) const = 0;
  /// Writes a copy of the log, with what a live run has logged so far, to a new file.
  /// Errors: `log_exists`, `log_io`, `log_full`.
  virtual Expected<void> save(const std::string& path) const = 0;
  /// How much of the events the running `query` has read; `total` is 0 where that is unknown.
  virtual LogProgress query_progress() const { return {}; }

  // ---- sums
  /// Adds the durations of all events of a track that begin in [from, to); `by_instruction` is
  /// indexed by instruction and grows as needed. Reads every such event: 10 million take about a
  /// second.
  /// Errors: `log_cancelled`.
  virtual Expected<void> durations(TrackId track, int64_t from_ns, int64_t to_ns,
                                   std::vector<Durations>& by_instruction,
                                   std::stop_token stop = {}) const = 0;
};

}  // namespace hostir::interp
