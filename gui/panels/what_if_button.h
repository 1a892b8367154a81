// The button that asks for small edits, wherever it is said that something hangs.
#pragma once

#include <string>

#include "gui/panel.h"

namespace hostir::gui {

/// Draws nothing where there is nothing to ask. `name`: of the widget.
void what_if_button(Frame& frame, const std::string& name);
/// Its width with what it says now, in pixels; 0 where it is not drawn.
float what_if_button_width(const Frame& frame);

}  // namespace hostir::gui
