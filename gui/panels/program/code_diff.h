// Drawing of text differences, line by line.
#pragma once

#include <string>
#include <vector>

#include "gui/tree/panel.h"
#include "interp/session/what_if/line_edit.h"

namespace hostir::gui {

/// Draws line number, sign and text of each line; the sign repeats what the colour says. Advances
/// the cursor.
void draw_diff_lines(Frame& frame, const std::vector<interp::DiffLine>& lines);

/// The lines as text: `-old` and `+new`.
std::string diff_text(const std::vector<interp::DiffLine>& lines);

}  // namespace hostir::gui
