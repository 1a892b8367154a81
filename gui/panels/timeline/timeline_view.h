// The visible range of time, and conversion between ns and pixels. No drawing.
#pragma once

#include <string>

namespace hostir::gui {

struct TimelineView {
  double from_ns = 0;
  double to_ns = 1000;

  double span_ns() const { return to_ns - from_ns; }
  float x(double t_ns, float left, float width) const {
    return left + static_cast<float>((t_ns - from_ns) / span_ns() * static_cast<double>(width));
  }
  double t(float x, float left, float width) const {
    return from_ns + static_cast<double>(x - left) / static_cast<double>(width) * span_ns();
  }
  /// Zooms around `anchor_ns`, which stays in place.
  void zoom(double factor, double anchor_ns, double whole_from_ns, double whole_to_ns);
  void pan(double by_ns);
  friend bool operator==(const TimelineView&, const TimelineView&) = default;
};

/// A round step (1, 2 or 5 times a power of ten) that gives a ruler of `width` pixels about one
/// mark per `pixels`.
double ruler_step_ns(double span_ns, float width, float pixels);

/// `1.25 us`, with as many digits as the step requires.
std::string format_time(double t_ns, double step_ns);

}  // namespace hostir::gui
