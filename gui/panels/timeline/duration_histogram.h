// Draws a histogram of durations on a logarithmic axis.
#pragma once

#include "gui/tree/panel.h"
#include "interp/session/log/durations.h"

namespace hostir::gui {

/// Draws at the cursor, `size` large, with lines at the mean and the median. Tagged
/// `statistics/histogram`; each bar has a tooltip.
void draw_histogram(Frame& frame, const interp::Durations& durations, ImVec2 size, ImU32 colour);

}  // namespace hostir::gui
