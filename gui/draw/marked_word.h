// A field of a call, marked where the calls of a mismatch differ.
#pragma once

#include <string_view>

#include "gui/draw/ui.h"

namespace hostir::gui {

/// Draws the word as the next item, in the fixed-width font; if it differs, as a red pill with a
/// not-equal sign. Draws nothing for an empty word.
void marked_word(const Ui& ui, std::string_view word, bool differs);

}  // namespace hostir::gui
