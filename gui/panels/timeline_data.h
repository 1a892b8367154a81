// What the timeline asks of the log, made ready for drawing on the log's thread.
//
// Slices of neighbouring columns that look the same are joined here, so that a frame costs what can
// be told apart on the screen and never more than `kMaxRuns` rectangles. Times stay in nanoseconds:
// pans and zooms draw the last answer until the next one is there. No drawing.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "gui/panels/timeline_view.h"
#include "gui/theme.h"
#include "interp/session/log_view.h"

namespace hostir::gui {

/// A stretch of one lane in one colour.
struct TimelineRun {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t event = -1;  // the longest in it
  interp::CodeIndex instruction = 0;
  uint32_t count = 0;
  int64_t busy_ns = 0;
  EventKind kind = EventKind::kHost;
  uint8_t share = 4;  // of the stretch that is busy, in quarters
};

struct TimelineKey {
  TimelineView view;  // with a margin on both sides
  int columns = 0;
  std::vector<interp::TrackId> tracks;
  std::vector<interp::CodeIndex> found;  // instructions that the search matched, sorted
  uint64_t generation = ~uint64_t{0};
  friend bool operator==(const TimelineKey&, const TimelineKey&) = default;
};

// What the other questions depend on: a range's sums, one event, the minimap.
struct SumKey {
  int64_t from_ns = 0;
  int64_t to_ns = 0;
  uint64_t generation = ~uint64_t{0};
  friend bool operator==(const SumKey&, const SumKey&) = default;
};
struct EventKey {
  int64_t event = -1;
  uint64_t generation = ~uint64_t{0};
  friend bool operator==(const EventKey&, const EventKey&) = default;
};
struct OverviewKey {
  int columns = 0;
  uint64_t generation = ~uint64_t{0};
  friend bool operator==(const OverviewKey&, const OverviewKey&) = default;
};

struct TimelineLanes {
  TimelineKey key;
  interp::LogExtent extent;
  std::vector<std::vector<TimelineRun>> runs;  // by index of key.tracks
};

/// What never changes while a log is open.
struct TimelineNames {
  std::vector<interp::LogTrack> tracks;
  std::vector<std::string> names;  // by instruction
  std::vector<std::string> texts;
  std::vector<EventKind> kinds;
  bool virtual_time = false;
  int32_t rank_count = 0;
};

/// How busy the streams of all ranks are, per column of the whole run; 1: the busiest column.
struct TimelineOverview {
  interp::LogExtent extent;
  std::vector<float> compute;  // 0 to 1
  std::vector<float> communication;
};

constexpr size_t kMaxRuns = 10000;

TimelineNames fetch_names(const interp::LogView& log);
Expected<TimelineLanes> fetch_lanes(const interp::LogView& log, const TimelineKey& key,
                                    const std::stop_token& stop);
Expected<TimelineOverview> fetch_overview(const interp::LogView& log, int columns,
                                          const std::stop_token& stop);

/// What is known of one event, for the hover text and for a click.
struct TimelineEvent {
  interp::LogEvent event;
  std::string loop;
  std::vector<interp::LogCollective> members;  // of its collective, in order of rank
  bool is_collective = false;
};
Expected<TimelineEvent> fetch_event(const interp::LogView& log, int64_t id,
                                    const std::stop_token& stop);

/// What the hover text says of a run; `event` is what is known of its longest event, or null.
std::string describe(const TimelineNames& names, const TimelineRun& run,
                     const TimelineEvent* event);

/// "12.5 us" with up to four digits.
std::string short_time(double ns);
/// "12.5 MiB", and "3.1 GB/s" of a rate.
std::string bytes_text(int64_t bytes);
std::string rate_text(double bytes_per_s);

}  // namespace hostir::gui
