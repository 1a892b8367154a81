#include "gui/panels/timeline/timeline_camera.h"

#include <algorithm>

namespace hostir::gui {

double TimelineCamera::begin() const { return steps() ? 0 : static_cast<double>(extent_.begin_ns); }

double TimelineCamera::end() const {
  return static_cast<double>(steps() ? extent_.event_count
                                     : std::max(extent_.end_ns, extent_.begin_ns + 10));
}

std::optional<std::pair<double, double>> TimelineCamera::place(
    const interp::LogEvent& event) const {
  if (steps()) return std::pair(static_cast<double>(event.id), static_cast<double>(event.id + 1));
  if (event.begin_ns() == interp::kUnknownNs || event.end_ns() == interp::kUnknownNs)
    return std::nullopt;
  return std::pair(static_cast<double>(event.begin_ns()), static_cast<double>(event.end_ns()));
}

double TimelineCamera::now(const interp::Snapshot& shot, const TimelineLanes& lanes) const {
  if (!steps()) return static_cast<double>(shot.now_ns);
  const auto next =
      std::find_if(lanes.decisions.begin(), lanes.decisions.end(),
                   [&](uint64_t decision) { return decision >= shot.position.decision; });
  if (next != lanes.decisions.end() && next != lanes.decisions.begin())
    return static_cast<double>(lanes.first_step + (next - lanes.decisions.begin()));
  return reached_ * end();
}

void TimelineCamera::set_axis(TimelineAxis axis) {
  axis_ = axis;
  fitted_ = false;
}

void TimelineCamera::fit() {
  double from = begin();
  double to = end();
  const auto most = static_cast<double>(kMaxSteps) * 0.98;
  if (steps() && to > most) {
    from = std::clamp(reached_ * to - most / 2, 0.0, to - most);
    to = from + most;
  }
  const double margin = (to - from) * 0.01;
  view_ = {from - margin, to + margin};
  known_end_ = end();
  fitted_ = true;
  follow_ = true;
}

void TimelineCamera::follow() {
  if (!fitted_ || (follow_ && end() != known_end_)) fit();
}

void TimelineCamera::zoom(double factor, double anchor) {
  view_.zoom(factor, anchor, begin(), end());
  limit_steps(anchor);
  follow_ = false;
}

void TimelineCamera::pan(double share) {
  view_.pan(share * view_.span_ns());
  follow_ = false;
}

void TimelineCamera::show(double from, double to) {
  const double margin = std::max(5.0, (to - from) * 0.5);
  view_ = {from - margin, to + margin};
  limit_steps((from + to) / 2);
  follow_ = false;
}

void TimelineCamera::center(double at) {
  view_ = {at - view_.span_ns() / 2, at + view_.span_ns() / 2};
  follow_ = false;
}

// The steps axis has no levels of detail, so limit the number of steps in view, around the anchor.
void TimelineCamera::limit_steps(double anchor) {
  const auto most = static_cast<double>(kMaxSteps);
  if (!steps() || view_.span_ns() <= most) return;
  const double share = (anchor - view_.from_ns) / view_.span_ns();
  view_ = {anchor - share * most, anchor + (1 - share) * most};
}

}  // namespace hostir::gui
