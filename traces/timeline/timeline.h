// The timeline of one track in memory, with levels of detail.
//
// Level 0 is the events in order of begin; a node of level k+1 summarises 64 nodes of level k:
// extent, time covered, count and the longest event. A view of any range descends from the top and
// stops where a node is narrower than a pixel, so its cost depends on the number of pixels, not of
// events (measured: tests/bench/README.md). Memory: 24 bytes per event, plus half a byte for the
// levels.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "interp/session/log/log_view.h"
#include "traces/timeline/timeline_node.h"

namespace hostir::traces {

class Timeline {
 public:
  using Event = TimelineEvent;  // `add` accepts only sane ones
  /// nullopt if begin or end are unknown or invalid.
  static std::optional<Event> event_of(const interp::LogEvent& event);

  /// Events may come in any order; `build()` sorts.
  void add(const std::vector<Event>& events);
  /// Rebuilds the levels after events were added. Costs as much as the new events and the existing
  /// ones that begin after them.
  void build();

  size_t size() const { return events_.size(); }
  /// In order of begin once built.
  const std::vector<Event>& events() const { return events_; }
  int64_t begin_ns() const { return events_.empty() ? 0 : events_.front().begin_ns; }
  int64_t end_ns() const { return end_ns_; }

  /// Appends the nodes that a window shows to `out`, in order of begin. slices_of() draws them.
  void collect(const TimelineWindow& window, std::vector<TimelineNode>& out) const;

  /// Adds up events that overlap [from, to), clipped to it; `sums` is indexed by instruction.
  void sum(int64_t from_ns, int64_t to_ns, std::vector<InstructionSum>& sums) const;

 private:
  static constexpr size_t kFactor = 64;
  struct Node {
    int64_t begin_ns;
    int64_t end_ns;    // latest end in it
    int64_t busy_ns;   // sum of durations
    uint32_t longest;  // index into events_
    uint32_t count;
  };

  void push(const Event& event);
  void sort();
  Node leaf(size_t index) const;
  Node node(size_t level, size_t index) const;
  size_t level_size(size_t level) const;
  void descend(const TimelineWindow& window, size_t level, size_t index,
               std::vector<TimelineNode>& out) const;

  std::vector<Event> events_;
  std::vector<std::vector<Node>> levels_;  // levels_[0] summarises events
  size_t built_ = 0;                       // events included in the levels
  size_t sorted_ = 0;                      // sorted events at the front
  int64_t end_ns_ = 0;
};

}  // namespace hostir::traces
