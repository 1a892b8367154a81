// The strip of outcomes over position and rank, and the table of writes below it.
#pragma once

#include "gui/panel.h"

namespace hostir::gui {

/// The state whose colour and glyph an outcome has.
StateKind state_of(interp::WriteOutcome outcome);

/// Green, amber, red by position (from the first write to the last) and rank; a click goes there.
void draw_diff_strip(Frame& frame);

/// What stands in the column "max ulp".
std::string diff_ulp_text(const interp::WriteDifference& d);

/// Writes in the order in which they finished; a click selects one. `reveal`: scrolls to the
/// selected one.
void draw_diff_table(Frame& frame, ImVec2 size, bool reveal);

}  // namespace hostir::gui
