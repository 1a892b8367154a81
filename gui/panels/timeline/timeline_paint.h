// Draws the timeline: geometry and fetched data in, draw list out.
//
// This code neither queries the log nor changes the model; it reports what is under the pointer. A
// frame draws at most `kMaxRuns` rectangles and `kMaxHatches` hatch lines.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gui/panels/timeline/lane_groups.h"
#include "gui/panels/timeline/timeline_data.h"
#include "gui/tree/panel.h"

namespace hostir::gui {

struct TimelineGeometry {
  ImVec2 at;  // top left corner of the minimap
  ImVec2 size;
  float label_width = 0;
  float minimap_height = 0;
  float ruler_height = 0;
  float scroll = 0;
  TimelineView view;  // in event ids if the axis counts steps
  TimelineAxis axis = TimelineAxis::kTime;

  ImVec2 lanes_at() const {
    return ImVec2(at.x + label_width, at.y + minimap_height + ruler_height);
  }
  ImVec2 lanes_size() const {
    return ImVec2(size.x - label_width, size.y - minimap_height - ruler_height);
  }
  float x(double t_ns) const { return view.x(t_ns, lanes_at().x, lanes_size().x); }
};

/// One lane, with `y` in scrolled content.
struct TimelineRow {
  interp::TrackId track = 0;
  interp::Rank rank = 0;
  float y = 0;
  float height = 0;
  bool strip = false;  // belongs to a folded rank
  bool head = false;   // first lane of its rank or group
  int32_t group = -1;  // for merged ranks, whose first track is `track`
};

/// The lanes from top to bottom. A folded rank is one lane with its streams as strips; its host is
/// not shown. Merged ranks have one lane per stream.
std::vector<TimelineRow> lay_out_rows(const TimelineNames& names,
                                      const std::set<interp::Rank>& folded,
                                      const LaneGroups& groups, float lane_height,
                                      float strip_height);

class TimelinePaint {
 public:
  TimelinePaint(Frame& frame, const TimelineGeometry& geometry, const TimelineNames& names,
                const LaneGroups& groups, ImDrawList* list)
      : frame_(frame), g_(geometry), names_(names), groups_(groups), list_(list) {}

  /// The whole run: kernels on top, communication below, hosts as a strip. `now` is the playhead.
  void minimap(const TimelineOverview& overview, double now) const;
  void ruler() const;
  /// `found`: these instructions stay bright and all others are dimmed; empty: nothing is dimmed.
  void lanes(const std::vector<TimelineRow>& rows, size_t first, size_t last,
             const TimelineLanes& data, const std::vector<interp::CodeIndex>& found);
  /// Arrows between ranks; those of the selected or hovered event are bright.
  void flows(const std::vector<TimelineRow>& rows, const TimelineLanes& data) const;
  /// The members of the selected collective, with waits hatched and arrivals joined.
  void collective(const std::vector<TimelineRow>& rows, const TimelineEvent& event);
  /// What each stream is stuck or waiting in, from when it was next until now; drawn to the edge
  /// with an infinity sign if nothing can move any more. Only at the end of the history, because
  /// before that the log has the outcome.
  void pending(const std::vector<TimelineRow>& rows, size_t first, size_t last,
               const TimelineLanes& data, const interp::Snapshot& shot);
  void range(std::pair<int64_t, int64_t> range) const;
  void sums(std::pair<int64_t, int64_t> range, const std::vector<interp::TimelineSum>& sums) const;
  void notes(const std::vector<TimelineNote>& notes) const;
  void playhead(double now) const;

  const std::optional<TimelineRun>& hovered_run() const { return hovered_; }
  /// The pending work under the pointer: its text (empty: none) and its instruction.
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
  const std::vector<interp::CodeIndex>* found_ = nullptr;  // set by `lanes`
  std::optional<TimelineRun> hovered_;
  std::string hanging_;
  interp::CodeIndex hanging_code_ = 0;
  int hatches_ = 0;
};

}  // namespace hostir::gui
