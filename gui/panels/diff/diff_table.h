// The strip of outcomes by position and rank, and the table of writes below it.
#pragma once

#include "gui/tree/panel.h"

namespace hostir::gui {

/// The state that provides the colour and glyph of an outcome.
StateKind state_of(interp::WriteOutcome outcome);

/// Green, amber or red by position (first to last write) and rank. A click selects a write there.
void draw_diff_strip(Frame& frame);

/// Text of the column "max ulp".
std::string diff_ulp_text(const interp::WriteDifference& d);

/// The writes in order of completion; a click selects one. `reveal`: scrolls to the selected write.
void draw_diff_table(Frame& frame, ImVec2 size, bool reveal);

}  // namespace hostir::gui
