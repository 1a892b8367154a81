// The timeline's per-frame queries to the log, and the newest answers.
//
// Answers stay until newer ones arrive, so that pans and zooms can draw at once.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "gui/panels/log/log_fetch.h"
#include "gui/panels/timeline/timeline_data.h"

namespace hostir::gui {

/// What is on screen; determines the queries.
struct TimelineScreen {
  TimelineView view;
  TimelineAxis axis = TimelineAxis::kTime;
  int columns = 0;  // width of a lane in pixels
  std::vector<interp::TrackId> tracks;
  std::vector<std::vector<interp::TrackId>> groups;
  bool fitted = false;  // false: only the extent is needed so far
  int64_t hovered_event = -1;
  std::optional<std::pair<int64_t, int64_t>> range;
};

class TimelineQueries {
 public:
  /// Null until the first answer.
  const TimelineNames* ask_names(Frame& frame);
  void ask(Frame& frame, const TimelineScreen& asked);
  /// Call first in each frame: answers of the previous frame may have been replaced.
  void refresh(const Model& model) {
    lanes = lanes_fetch_.last(model);
    overview = overview_fetch_.last(model);
    selected = selected_fetch_.last(model);
    hovered = hovered_fetch_.last(model);
    sums = sums_fetch_.last(model);
  }

  const TimelineLanes* lanes = nullptr;
  const TimelineOverview* overview = nullptr;
  const TimelineEvent* selected = nullptr;
  const TimelineEvent* hovered = nullptr;
  const std::vector<interp::TimelineSum>* sums = nullptr;
  interp::LogProgress reading;
  /// How far the log is read; empty once it is.
  std::string reading_text() const;

 private:
  LogFetch<uint64_t, TimelineNames> names_fetch_{"timeline/names"};
  LogFetch<TimelineKey, TimelineLanes> lanes_fetch_{"timeline/lanes"};
  LogFetch<OverviewKey, TimelineOverview> overview_fetch_{"timeline/overview"};
  LogFetch<EventKey, TimelineEvent> selected_fetch_{"timeline/selected"};
  LogFetch<EventKey, TimelineEvent> hovered_fetch_{"timeline/hovered"};
  LogFetch<SumKey, std::vector<interp::TimelineSum>> sums_fetch_{"timeline/sums"};
};

}  // namespace hostir::gui
