// The What if button, shown wherever a message says that something hangs.
#pragma once

#include <string>

#include "gui/tree/panel.h"

namespace hostir::gui {

/// Draws nothing if there is nothing to search. `name`: the widget name.
void what_if_button(Frame& frame, const std::string& name);
/// Width of the button with its current text, in pixels; 0 if it is not drawn.
float what_if_button_width(const Frame& frame);

}  // namespace hostir::gui
