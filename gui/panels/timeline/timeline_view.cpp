#include "gui/panels/timeline/timeline_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace hostir::gui {

void TimelineView::zoom(double factor, double anchor_ns, double whole_from_ns, double whole_to_ns) {
  const double whole = std::max(1.0, whole_to_ns - whole_from_ns);
  const double span = std::clamp(span_ns() * factor, 10.0, whole * 1.2);
  const double share = (anchor_ns - from_ns) / span_ns();
  from_ns = anchor_ns - share * span;
  to_ns = from_ns + span;
}

void TimelineView::pan(double by_ns) {
  from_ns += by_ns;
  to_ns += by_ns;
}

double ruler_step_ns(double span_ns, float width, float pixels) {
  const double raw =
      span_ns * static_cast<double>(pixels) / std::max(1.0, static_cast<double>(width));
  const double power = std::pow(10.0, std::floor(std::log10(std::max(raw, 1.0))));
  for (const double m : {1.0, 2.0, 5.0}) {
    if (power * m >= raw) return power * m;
  }
  return power * 10;
}

std::string format_time(double t_ns, double step_ns) {
  double unit = 1;
  const char* name = "ns";
  if (step_ns >= 1e8 || std::fabs(t_ns) >= 1e10) {
    unit = 1e9;
    name = "s";
  } else if (step_ns >= 1e5 || std::fabs(t_ns) >= 1e7) {
    unit = 1e6;
    name = "ms";
  } else if (step_ns >= 1e2 || std::fabs(t_ns) >= 1e4) {
    unit = 1e3;
    name = "us";
  }
  const int digits =
      std::clamp(static_cast<int>(std::ceil(-std::log10(step_ns / unit) - 1e-9)), 0, 6);
  return fmt::format("{:.{}f} {}", t_ns / unit, digits, name);
}

}  // namespace hostir::gui
