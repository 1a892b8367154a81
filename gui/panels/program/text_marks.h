// Squiggles, colours and line numbers drawn over a text field.
#pragma once

#include <string>
#include <vector>

#include "gui/draw/ui.h"
#include "gui/files/text_mark.h"

namespace hostir::gui {

/// Draws marks over the multi-line field `label` that was drawn last in this window, with each
/// message after the end of its line. Line numbers are the caller's.
void draw_marks(Ui& ui, const char* label, const std::string& text,
                const std::vector<TextMark>& marks);

/// Draws a background under what was found in the field, a stronger one under `current`.
void draw_found(Ui& ui, const char* label, const std::string& text,
                const std::vector<TextMark>& found, const TextMark* current);

/// Draws the text again over the field, with syntax colours.
void draw_colours(Ui& ui, const char* label, const std::string& text);

/// Scrolls the field to a line (0-based).
void scroll_to_line(const char* label, size_t line);

/// Draws the numbers of the visible lines, right-aligned before `right`; lines with a mark are
/// highlighted.
void draw_line_numbers(Ui& ui, const char* label, const std::string& text,
                       const std::vector<TextMark>& marks, float right);

}  // namespace hostir::gui
