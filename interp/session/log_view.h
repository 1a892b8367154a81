// How the debugger and the GUI read a log: of a recorded run, or of the one being recorded.
//
// A reader never blocks the writer. Nothing here knows SQLite; `traces` implements it, tests may
// implement it in memory. Threads: all functions may be called from any thread; those that may take
// long take a `std::stop_token` and return `log_cancelled` soon after it is stopped. What `open`
// loads (run, tracks, instructions, tensors) never changes while the view lives; rows of a live log
// appear when `refresh()` is called. Absent: writing, replay, and any state of a debugger.
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
#include "interp/session/log_records.h"

namespace hostir::interp {

/// Which events are wanted; empty lists mean "all". All given conditions must hold.
struct EventFilter {
  std::vector<Rank> ranks;
  std::vector<int32_t> streams;  // -1: host
  std::vector<CodeIndex> instructions;
  std::vector<std::string> mnemonics;
  std::optional<uint32_t> branch;
  std::optional<std::pair<CommIndex, uint64_t>> meeting;  // collectives only: (comm, sequence)
  int64_t from_ns = std::numeric_limits<int64_t>::min();  // overlaps [from, to)
  int64_t to_ns = std::numeric_limits<int64_t>::max();
  int64_t first_id = 0;  // paging: events with id >= first_id, in order of id
  int64_t last_id = std::numeric_limits<int64_t>::max();
  int64_t limit = 1000;
  bool shown_only = false;  // without what `shows` says was undone
};

/// What one horizontal stretch of a track shows at some zoom.
struct TimelineSlice {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t event = -1;         // the longest event in it
  CodeIndex instruction = 0;  // of that event
  uint32_t count = 0;         // events in it; 1: exactly this event is drawn
  int64_t busy_ns = 0;        // time covered by events
};

struct TimelineRequest {
  TrackId track = 0;
  int64_t from_ns = 0;
  int64_t to_ns = 0;
  int32_t columns = 1000;  // pixels: no two slices of the answer begin in one of them
};

/// What one instruction did on one track in a stretch of time.
struct TimelineSum {
  TrackId track = 0;
  CodeIndex instruction = 0;
  int64_t count = 0;    // events that overlap the stretch
  int64_t busy_ns = 0;  // their time, clipped to it
};

/// Which writes are wanted.
struct WriteFilter {
  std::string value;  // name without '%': all tensors of that name, in any layout; empty: all
  Rank rank = kNoRank;
  /// Global index: only ranks that hold it. One of another length than the tensor has is ignored.
  std::optional<std::vector<int64_t>> element = std::nullopt;
  int64_t first_event = -1;
  bool shown_only = false;  // without what `shows` says was undone
};

/// How far the reading of a large log has come, in events.
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
  virtual const std::vector<LogPhase>& phases() const = 0;
  virtual const std::vector<LogExplain>& explanations() const = 0;
  virtual const std::vector<LogInput>& inputs() const = 0;

  /// Takes in what a live run has logged since; cheap where nothing is new. A closed log never
  /// changes. Errors: `log_damaged`, `log_cancelled`.
  virtual Expected<LogExtent> refresh(std::stop_token stop = {}) = 0;
  virtual LogExtent extent() const = 0;
  /// Of a refresh that is under way; what was read so far is already shown. Never waits.
  virtual LogProgress progress() const = 0;

  /// Whether an event belongs to the history that is shown: the newest branch and what it came
  /// from. What somebody went back over and did otherwise stays in the log. True for -1, no event.
  virtual bool shows(int64_t event) const = 0;

  // ---- rows
  /// A track in the range, reduced to at most 2 * columns slices, in order of begin. Answers from
  /// memory in about a millisecond at any zoom.
  virtual std::vector<TimelineSlice> timeline(const TimelineRequest& request) const = 0;
  /// Exact sums of what overlaps [from, to), of all tracks; in order of track, instruction.
  virtual std::vector<TimelineSum> sums(int64_t from_ns, int64_t to_ns) const = 0;
  virtual Expected<std::vector<LogEvent>> events(const EventFilter& filter,
                                                 std::stop_token stop = {}) const = 0;
  /// Errors: `log_no_event`.
  virtual Expected<LogEvent> event(int64_t id) const = 0;
  /// "3.0" = iteration 3 of the outer loop, 0 of the inner; empty outside of loops.
  virtual std::string loop_path(LoopPathId path) const = 0;
  /// The ledger, in order of start, then communicator, sequence, rank.
  virtual Expected<std::vector<LogCollective>> collectives(const EventFilter& filter,
                                                           std::stop_token stop = {}) const = 0;
  /// Live bytes of a rank over time; at most about `columns` points (the peak of each column).
  virtual Expected<std::vector<LogMemoryPoint>> memory(Rank rank, int64_t from_ns, int64_t to_ns,
                                                       int32_t columns,
                                                       std::stop_token stop = {}) const = 0;
  /// Where the writes stand, oldest first, a stretch at a time: a list of any length is counted,
  /// and read where somebody looks. Costs a quarter of a microsecond a write.
  virtual Expected<LogWrites> find_writes(const WriteFilter& filter,
                                          std::stop_token stop = {}) const = 0;
  /// What these places hold, in the same order; places that the log does not have are left out.
  /// With `element` its value where the log has the contents.
  virtual Expected<std::vector<LogValue>> read_writes(
      std::span<const LogWrite> places, const std::optional<std::vector<int64_t>>& element,
      std::stop_token stop = {}) const = 0;
  /// The local contents that a write left, with the extents of its rank's box; `row` says which.
  /// Errors: `log_no_data` where the log did not keep them (--trace-values data=GLOB).
  virtual Expected<Tensor> contents(const LogWrite& place) const = 0;
  /// Both in one, for lists that are wanted whole.
  Expected<std::vector<LogValue>> writes(WriteFilter filter, std::stop_token stop = {}) const;
  virtual Expected<std::vector<LogFault>> faults() const = 0;
  virtual Expected<std::vector<LogDecision>> decisions() const = 0;

  /// Any read-only SQL; at most `max_rows` rows. Errors: `log_sql` with SQLite's sentence,
  /// `log_cancelled`.
  virtual Expected<LogTable> query(std::string_view sql, int64_t max_rows = 100000,
                                   std::stop_token stop = {}) const = 0;
};

}  // namespace hostir::interp
