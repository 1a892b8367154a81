// The timeline's queries to the log, with results prepared for drawing on the log's thread.
//
// Slices in neighbouring columns that look the same are merged, so the cost of a frame depends on
// what is distinguishable on screen and never exceeds `kMaxRuns` rectangles. Times stay in
// nanoseconds: pans and zooms draw the last answer until the next arrives. No drawing.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "gui/draw/theme.h"
#include "gui/panels/collectives/permute_routes.h"
#include "gui/panels/timeline/timeline_view.h"
#include "gui/state/model.h"
#include "interp/session/log/log_view.h"

namespace hostir::gui {

/// A stretch of one lane with one colour.
struct TimelineRun {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t event = -1;  // the longest event in it
  interp::CodeIndex instruction = 0;
  uint32_t count = 0;
  int64_t busy_ns = 0;
  EventKind kind = EventKind::kHost;
  uint8_t share = 4;   // fraction of the stretch that is busy, in quarters
  bool mixed = false;  // merged lanes: several instructions of this kind
  uint32_t ranks = 1;  // > 1 in merged lanes: average number of busy ranks; `event` is then unknown
};

/// A stretch in which a stream had a next task but could not start it: it waited for an event of
/// another stream, or for other members of a collective.
struct TimelineWait {
  int64_t from_ns = 0;   // when the task was next: issued, with all earlier work done
  int64_t ready_ns = 0;  // when all events it waits for had completed; unknown: `to_ns`
  int64_t to_ns = 0;     // when it started
  int64_t event = -1;    // the waiting task
  interp::CodeIndex instruction = 0;
};

/// What one rank's work did to another's: a message from its send to its recv, or a collective's
/// last member to one that waited for it.
struct TimelineFlow {
  interp::TrackId from_track = 0;
  interp::TrackId to_track = 0;
  int64_t from_ns = 0;
  int64_t to_ns = 0;
  int64_t from_event = -1;
  int64_t to_event = -1;
  bool message = false;
};

/// The unit of the horizontal axis. In steps, every event is one unit wide, in order of issue, and
/// the fields named ns hold event ids.
enum class TimelineAxis : uint8_t { kTime, kSteps };

struct TimelineKey {
  TimelineView view;  // includes a margin on both sides
  TimelineAxis axis = TimelineAxis::kTime;
  int columns = 0;
  std::vector<interp::TrackId> tracks;
  std::vector<std::vector<interp::TrackId>> groups;  // merged lanes; only for kTime
  std::vector<interp::CodeIndex> found;              // instructions matched by the search, sorted
  uint64_t generation = ~uint64_t{0};
  friend bool operator==(const TimelineKey&, const TimelineKey&) = default;
};

// Keys of the other queries: sums over a range, one event, the minimap.
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
  std::vector<std::vector<TimelineRun>> runs;    // by index in key.tracks
  std::vector<std::vector<TimelineWait>> waits;  // by index in key.tracks; only for kTime
  std::vector<TimelineFlow> flows;               // between the tracks of key; only for kTime
  std::vector<std::vector<TimelineRun>> merged;  // by index in key.groups
  int64_t first_step = 0;                        // for kSteps: the event of decisions[0]
  std::vector<uint64_t> decisions;               // for kSteps: decisions of the events in view
};

/// What does not change while a log is open.
struct TimelineNames {
  std::vector<interp::LogTrack> tracks;
  std::vector<std::string> names;  // by instruction
  std::vector<std::string> texts;
  std::vector<std::string> addresses;
  std::vector<std::string> glyphs;  // for communication; empty for everything else
  std::vector<EventKind> kinds;
  bool virtual_time = false;
  const char* about_times() const {
    return virtual_time ? "The times of the machine model: the same in every run"
                        : "The times that were measured";
  }
  int32_t rank_count = 0;
};

/// How busy the streams and hosts of all ranks are, per column of the whole run. 1 is the busiest
/// column (for hosts: of all hosts).
struct TimelineOverview {
  double begin = 0;  // ns, or event ids
  double end = 1;
  std::vector<float> compute;  // 0 to 1
  std::vector<float> communication;
  std::vector<float> host;
  void normalise();
};

constexpr size_t kMaxRuns = 10000;
/// For kSteps: the maximum number of events shown at once. Steps have no levels of detail.
constexpr int64_t kMaxSteps = 4000;

/// Event kinds by instruction.
std::vector<EventKind> event_kinds(const interp::LogView& log);
TimelineNames fetch_names(const interp::LogView& log);
/// `program` says who sends to whom in a permute; it may be null.
Expected<TimelineLanes> fetch_lanes(const interp::LogView& log, const TimelineKey& key,
                                    const interp::ProgramView* program,
                                    const std::stop_token& stop);
Expected<TimelineOverview> fetch_overview(const interp::LogView& log, int columns,
                                          const std::stop_token& stop);
/// The same two queries for kSteps: from the rows of the events in view, and from samples of all
/// events.
Expected<TimelineLanes> fetch_steps(const interp::LogView& log, const TimelineKey& key,
                                    const std::stop_token& stop);
Expected<TimelineOverview> fetch_step_overview(const interp::LogView& log,
                                               const std::stop_token& stop);
/// Merges the lanes of several ranks into one.
Expected<std::vector<TimelineRun>> fetch_envelope(const interp::LogView& log,
                                                  interp::TimelineRequest request,
                                                  const std::vector<interp::TrackId>& tracks,
                                                  const std::vector<EventKind>& kinds,
                                                  const std::stop_token& stop);
/// Fills `lanes.waits` where single events are wide enough to be seen (three columns), for at most
/// a few hundred events.
Expected<void> add_stream_waits(const interp::LogView& log, TimelineLanes& lanes, int64_t column_ns,
                                const std::stop_token& stop);

/// Fills `lanes.flows` for communication that is drawn as single events, at most a few hundred.
Expected<void> add_flows(const interp::LogView& log, TimelineLanes& lanes, int64_t column_ns,
                         const interp::ProgramView* program, const std::stop_token& stop);

/// The collective that a member took part in.
CollectiveId id_of(const interp::LogView& log, const interp::LogCollective& member);

/// Details of one event, for the hover text and for clicks.
struct TimelineEvent {
  interp::LogEvent event;
  std::string loop;
  std::vector<interp::LogCollective> members;  // members of its collective, ordered by rank
  std::optional<CollectiveId> collective;      // the collective it belongs to
  std::vector<RankRoute> routes;               // of a permute

  /// "3 of 4", or of the two sides of a message.
  std::string arrived_text() const;
};
Expected<TimelineEvent> fetch_event(const interp::LogView& log, int64_t id,
                                    const interp::ProgramView* program,
                                    const std::stop_token& stop);

/// Hover text of a run. `event`: details of its longest event, or null. In steps, a run has no
/// duration.
std::string describe(const TimelineNames& names, const TimelineRun& run, const TimelineEvent* event,
                     TimelineAxis axis = TimelineAxis::kTime);

/// "3.1 GB/s".
std::string rate_text(double bytes_per_s);

}  // namespace hostir::gui
