// The elements of a timeline view: single events, and summaries of many.
//
// `Timeline` (in memory) and `StoredTimeline` (blocks of the file) both collect nodes that cover a
// range at some resolution; `slices_of` reduces them to a row of pixels. Times are bounded, so that
// differences cannot overflow: `is_sane_time` is checked on input.
#pragma once

#include <cstdint>
#include <vector>

#include "interp/session/log/log_view.h"

namespace hostir::traces {

/// The drawn part of an event.
struct TimelineEvent {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  uint64_t what = 0;  // id and instruction: 40 and 24 bits

  int64_t id() const { return static_cast<int64_t>(what >> 24); }
  interp::CodeIndex instruction() const { return what & kMaxInstruction; }
  static constexpr int64_t kMaxId = (int64_t{1} << 40) - 1;
  static constexpr uint32_t kMaxInstruction = (1U << 24) - 1;
};

inline constexpr int64_t kMaxTimelineNs = int64_t{1} << 61;
inline bool is_sane_time(int64_t ns) { return ns > -kMaxTimelineNs && ns < kMaxTimelineNs; }

/// By begin, then by order of issue.
inline bool begins_before(const TimelineEvent& a, const TimelineEvent& b) {
  return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.id() < b.id();
}

/// A summary of consecutive events of one track.
struct TimelineNode {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;      // latest end in it
  int64_t busy_ns = 0;     // sum of durations
  int64_t longest_ns = 0;  // duration of the longest event
  uint64_t what = 0;       // of the longest event
  int64_t count = 0;

  static TimelineNode of(const TimelineEvent& event);
  /// Adds a node that begins later.
  void add(const TimelineNode& other);
};

/// The range and resolution of a view.
struct TimelineWindow {
  int64_t from_ns = 0;
  int64_t to_ns = 0;
  int64_t column_ns = 1;  // width of a pixel

  /// Clamped to sane times; empty (`to_ns <= from_ns`) if there is nothing to show.
  static TimelineWindow of(const interp::TimelineRequest& request);
  bool empty() const { return to_ns <= from_ns; }
  bool shows(int64_t begin_ns, int64_t end_ns) const {
    return end_ns >= from_ns && begin_ns < to_ns;
  }
};

/// Slices in order of begin, at most one beginning in each column. Sorts `nodes` if necessary.
std::vector<interp::TimelineSlice> slices_of(std::vector<TimelineNode>& nodes,
                                             const TimelineWindow& window);

/// The time spent in one instruction within an interval.
struct InstructionSum {
  interp::CodeIndex instruction = 0;
  int64_t count = 0;
  int64_t busy_ns = 0;
};

/// Adds an event clipped to [from, to) to `sums`, which is indexed by instruction.
void add_clipped(const TimelineEvent& event, int64_t from_ns, int64_t to_ns,
                 std::vector<InstructionSum>& sums);

}  // namespace hostir::traces
