// Squiggles, colours and line numbers drawn over a text field.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gui/text_mark.h"
#include "gui/ui.h"

namespace hostir::gui {

/// Over the multi-line field `label` that was drawn last in this window: line numbers are left to
/// the caller. The message stands behind the line's end. Returns the scroll of the field in pixels.
void draw_marks(Ui& ui, const char* label, const std::string& text,
                const std::vector<TextMark>& marks);

/// The text once more on top of the field, in the colours of the language.
void draw_colours(Ui& ui, const char* label, const std::string& text);

/// Brings a line (0-based) of the field into view.
void scroll_to_line(const char* label, size_t line);

/// Numbers of the lines that the field shows, right-aligned before `right`; lines with a mark stand
/// out.
void draw_line_numbers(Ui& ui, const char* label, const std::string& text,
                       const std::vector<TextMark>& marks, float right);

}  // namespace hostir::gui
