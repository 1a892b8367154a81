// Lines that differ, as a panel shows them.
#pragma once

#include <string>
#include <vector>

#include "gui/panel.h"
#include "interp/session/line_edit.h"

namespace hostir::gui {

/// Number, sign, line: the sign says what the colour says. Advances the cursor by what it draws.
void draw_diff_lines(Frame& frame, const std::vector<interp::DiffLine>& lines);

/// `-old` and `+new`, a line each.
std::string diff_text(const std::vector<interp::DiffLine>& lines);

}  // namespace hostir::gui
