// Which stretch of the axis the timeline shows, in time or in steps, and how it moves. No drawing.
#pragma once

#include <optional>
#include <utility>

#include "gui/panels/timeline_data.h"
#include "interp/session/snapshot.h"

namespace hostir::gui {

class TimelineCamera {
 public:
  const TimelineView& view() const { return view_; }
  TimelineAxis axis() const { return axis_; }
  bool steps() const { return axis_ == TimelineAxis::kSteps; }
  /// False until the extent was known once.
  bool fitted() const { return fitted_; }

  /// Of the newest answer, before anything below is asked; `reached`: the share of the history that
  /// lies before the current position.
  void set_extent(const interp::LogExtent& extent, double reached) {
    extent_ = extent;
    reached_ = reached;
  }
  double begin() const;
  double end() const;
  /// Where an event is on the axis; nothing while it is not known.
  std::optional<std::pair<double, double>> place(const interp::LogEvent& event) const;
  /// Where the current position is: in steps before the first event that is still to come, outside
  /// of the view about where it must be.
  double now(const interp::Snapshot& shot, const TimelineLanes& lanes) const;

  void forget() { fitted_ = false; }
  void set_axis(TimelineAxis axis);
  /// Everything; of more steps than fit those around the current position.
  void fit();
  /// Stays fitted while the run grows, until somebody moves the view.
  void follow();
  void zoom(double factor, double anchor);
  void pan(double share);
  /// The stretch with as much again around it.
  void show(double from, double to);
  void center(double at);

 private:
  void limit_steps(double anchor);

  TimelineView view_;
  TimelineAxis axis_ = TimelineAxis::kTime;
  interp::LogExtent extent_;
  double reached_ = 1;
  bool fitted_ = false;
  bool follow_ = true;
  double known_end_ = 0;
};

}  // namespace hostir::gui
