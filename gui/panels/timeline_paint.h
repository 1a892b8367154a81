// Drawing of the timeline: pure functions of geometry and fetched data into a draw list.
//
// Nothing here asks the log or changes the model; what is under the pointer is told back. The cost
// of a frame is bounded by `kMaxRuns` rectangles and `kMaxHatches` lines.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gui/panel.h"
#include "gui/panels/lane_groups.h"
#include "gui/panels/timeline_data.h"

namespace hostir::gui {

struct TimelineGeometry {
  ImVec2 at;  // of the minimap, the top
  ImVec2 size;
  float label_width = 0;
  float minimap_height = 0;
  float ruler_height = 0;
  float scroll = 0;
  TimelineView view;  // of event ids where the axis counts steps
  TimelineAxis axis = TimelineAxis::kTime;

  ImVec2 lanes_at() const {
    return ImVec2(at.x + label_width, at.y + minimap_height + ruler_height);
  }
  ImVec2 lanes_size() const {
    return ImVec2(size.x - label_width, size.y - minimap_height - ruler_height);
  }
  float x(double t_ns) const { return view.x(t_ns, lanes_at().x, lanes_size().x); }
};

/// One lane, at `y` of the scrolled content.
struct TimelineRow {
  interp::TrackId track = 0;
  interp::Rank rank = 0;
  float y = 0;
  float height = 0;
  bool strip = false;  // of a folded rank
  bool head = false;   // the first of its rank or group
  int32_t group = -1;  // of merged ranks; `track` is one of theirs
};

/// Lanes from top to bottom. A folded rank is one lane: its streams are strips of it, its host is
/// not shown. Merged ranks have a lane for each stream.
std::vector<TimelineRow> lay_out_rows(const TimelineNames& names,
                                      const std::set<interp::Rank>& folded,
                                      const LaneGroups& groups, float lane_height,
                                      float strip_height);

class TimelinePaint {
 public:
  TimelinePaint(Frame& frame, const TimelineGeometry& geometry, const TimelineNames& names,
                const LaneGroups& groups, ImDrawList* list)
      : frame_(frame), g_(geometry), names_(names), groups_(groups), list_(list) {}

  /// The whole run: kernels above, communication below, hosts as a strip; `now` is the playhead.
  void minimap(const TimelineOverview& overview, double now) const;
  void ruler() const;
  /// `found`: instructions that stay lit while everything else is dimmed; empty: all are.
  void lanes(const std::vector<TimelineRow>& rows, size_t first, size_t last,
             const TimelineLanes& data, const std::vector<interp::CodeIndex>& found);
  /// The members of the selected collective: their waits hatched, their arrivals joined.
  void collective(const std::vector<TimelineRow>& rows, const TimelineEvent& event);
  /// What each stream is stuck in or waits with, from when it was its turn to now; to the edge with
  /// an infinity sign where nothing can move any more. Only at the end of the history: before it,
  /// the log knows how things went on.
  void pending(const std::vector<TimelineRow>& rows, size_t first, size_t last,
               const TimelineLanes& data, const interp::Snapshot& shot);
  void range(std::pair<int64_t, int64_t> range) const;
  void sums(std::pair<int64_t, int64_t> range, const std::vector<interp::TimelineSum>& sums) const;
  void notes(const std::vector<TimelineNote>& notes) const;
  void playhead(double now) const;

  const std::optional<TimelineRun>& hovered_run() const { return hovered_; }
  /// Of what is pending under the pointer: its text, empty for none, and its instruction.
  const std::string& hovered_pending() const { return hanging_; }
  interp::CodeIndex hovered_pending_code() const { return hanging_code_; }

 private:
  static constexpr int kMaxHatches = 1500;
  void label(const TimelineRow& row, float y) const;
  const std::vector<TimelineRun>* runs_of(const TimelineRow& row, const TimelineLanes& data) const;
  void run(const TimelineRun& run, const TimelineRow& row, float y);
  void run_label(const TimelineRun& run, ImVec2 min, ImVec2 max) const;
  void wait(const TimelineWait& wait, const TimelineRow& row, float y);
  void skew_label(const TimelineRow& row, float y, float begin, float end,
                  const std::string& text) const;
  bool dimmed(interp::CodeIndex instruction) const;
  ImU32 colour_of(const TimelineRun& run) const;
  void hatch(ImVec2 min, ImVec2 max, ImU32 colour);
  ImU32 rank_colour(interp::Rank rank) const { return frame_.ui.pal().rank(rank); }

  Frame& frame_;
  const TimelineGeometry& g_;
  const TimelineNames& names_;
  const LaneGroups& groups_;
  ImDrawList* list_;
  const std::vector<interp::CodeIndex>* found_ = nullptr;  // of `lanes`
  std::optional<TimelineRun> hovered_;
  std::string hanging_;
  interp::CodeIndex hanging_code_ = 0;
  int hatches_ = 0;
};

}  // namespace hostir::gui
