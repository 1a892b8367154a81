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

#include "gui/model.h"
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
  uint8_t share = 4;   // of the stretch that is busy, in quarters
  bool mixed = false;  // of merged lanes: of several instructions of this kind
  uint32_t ranks = 1;  // more: of merged lanes; busy on average, the event is not known
};

/// A stretch in which a stream had its next task but could not begin it: another stream's event was
/// to come first, or other members of a collective had not arrived.
struct TimelineWait {
  int64_t from_ns = 0;   // it was the task's turn: issued, and what was before it done
  int64_t ready_ns = 0;  // all events it waits for had come; unknown: `to_ns`
  int64_t to_ns = 0;     // it began
  int64_t event = -1;    // the task that waited
  interp::CodeIndex instruction = 0;
};

/// What the horizontal axis counts. In steps every event is one unit wide, in order of issue; what
/// is called ns below is then an event id.
enum class TimelineAxis : uint8_t { kTime, kSteps };

struct TimelineKey {
  TimelineView view;  // with a margin on both sides
  TimelineAxis axis = TimelineAxis::kTime;
  int columns = 0;
  std::vector<interp::TrackId> tracks;
  std::vector<std::vector<interp::TrackId>> groups;  // merged lanes; in time only
  std::vector<interp::CodeIndex> found;              // instructions that the search matched, sorted
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
  TimelineAxis axis = TimelineAxis::kTime;
  uint64_t generation = ~uint64_t{0};
  friend bool operator==(const OverviewKey&, const OverviewKey&) = default;
};

struct TimelineLanes {
  TimelineKey key;
  interp::LogExtent extent;
  std::vector<std::vector<TimelineRun>> runs;    // by index of key.tracks
  std::vector<std::vector<TimelineWait>> waits;  // the same; of single events only, in time
  std::vector<std::vector<TimelineRun>> merged;  // by index of key.groups
  int64_t first_step = 0;                        // in steps: the event of decisions[0]
  std::vector<uint64_t> decisions;               // in steps: of the events in view
};

/// What never changes while a log is open.
struct TimelineNames {
  std::vector<interp::LogTrack> tracks;
  std::vector<std::string> names;  // by instruction
  std::vector<std::string> texts;
  std::vector<std::string> glyphs;  // of communication; empty for everything else
  std::vector<EventKind> kinds;
  bool virtual_time = false;
  int32_t rank_count = 0;
};

/// How busy the streams and hosts of all ranks are, per column of the whole run; 1: the busiest
/// column (of the hosts: of all hosts).
struct TimelineOverview {
  double begin = 0;  // ns, or event ids
  double end = 1;
  std::vector<float> compute;  // 0 to 1
  std::vector<float> communication;
  std::vector<float> host;
  void normalise();
};

constexpr size_t kMaxRuns = 10000;
/// In steps: events that are shown at once. There are no levels of detail in that order.
constexpr int64_t kMaxSteps = 4000;

/// By instruction.
std::vector<EventKind> event_kinds(const interp::LogView& log);
TimelineNames fetch_names(const interp::LogView& log);
Expected<TimelineLanes> fetch_lanes(const interp::LogView& log, const TimelineKey& key,
                                    const std::stop_token& stop);
Expected<TimelineOverview> fetch_overview(const interp::LogView& log, int columns,
                                          const std::stop_token& stop);
/// The same two in steps: from the rows of the events in view, and from samples of all events.
Expected<TimelineLanes> fetch_steps(const interp::LogView& log, const TimelineKey& key,
                                    const std::stop_token& stop);
Expected<TimelineOverview> fetch_step_overview(const interp::LogView& log,
                                               const std::stop_token& stop);
/// Lanes of several ranks as one.
Expected<std::vector<TimelineRun>> fetch_envelope(const interp::LogView& log,
                                                  interp::TimelineRequest request,
                                                  const std::vector<interp::TrackId>& tracks,
                                                  const std::vector<EventKind>& kinds,
                                                  const std::stop_token& stop);
/// Fills `lanes.waits` where single events are far enough apart to be seen (three columns), for at
/// most some hundred events.
Expected<void> add_stream_waits(const interp::LogView& log, TimelineLanes& lanes, int64_t column_ns,
                                const std::stop_token& stop);

/// Which meeting a member took part in.
CollectiveId id_of(const interp::LogView& log, const interp::LogCollective& member);

/// What is known of one event, for the hover text and for a click.
struct TimelineEvent {
  interp::LogEvent event;
  std::string loop;
  std::vector<interp::LogCollective> members;  // of its collective, in order of rank
  std::optional<CollectiveId> collective;      // that it is a member of
};
Expected<TimelineEvent> fetch_event(const interp::LogView& log, int64_t id,
                                    const std::stop_token& stop);

/// What the hover text says of a run; `event` is what is known of its longest event, or null.
/// In steps, the run has no length.
std::string describe(const TimelineNames& names, const TimelineRun& run, const TimelineEvent* event,
                     TimelineAxis axis = TimelineAxis::kTime);

/// "12.5 us" with up to four digits.
std::string short_time(double ns);
/// "12.5 MiB", and "3.1 GB/s" of a rate.
std::string bytes_text(int64_t bytes);
std::string rate_text(double bytes_per_s);

}  // namespace hostir::gui
