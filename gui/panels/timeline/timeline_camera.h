// The range of the axis that the timeline shows, in time or steps, and how it moves. No drawing.
#pragma once

#include <optional>
#include <utility>

#include "gui/panels/timeline/timeline_data.h"
#include "interp/session/snapshots/snapshot.h"

namespace hostir::gui {

class TimelineCamera {
 public:
  const TimelineView& view() const { return view_; }
  TimelineAxis axis() const { return axis_; }
  bool steps() const { return axis_ == TimelineAxis::kSteps; }
  /// False until the extent is known.
  bool fitted() const { return fitted_; }

  /// Sets the extent from the newest answer; call before the functions below. `reached`: the
  /// fraction of the history before the current position.
  void set_extent(const interp::LogExtent& extent, double reached) {
    extent_ = extent;
    reached_ = reached;
  }
  double begin() const;
  double end() const;
  /// The position of an event on the axis; nullopt while unknown.
  std::optional<std::pair<double, double>> place(const interp::LogEvent& event) const;
  /// The current position on the axis. In steps it is just before the first event still to come;
  /// outside the view it is an estimate.
  double now(const interp::Snapshot& shot, const TimelineLanes& lanes) const;

  void forget() { fitted_ = false; }
  void set_axis(TimelineAxis axis);
  /// Shows everything; with more steps than fit, those around the current position.
  void fit();
  /// Keeps the view fitted while the run grows, until the user moves it.
  void follow();
  void zoom(double factor, double anchor);
  void pan(double share);
  /// Shows the range with as much again around it.
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
