// Syntax colours: splits one line of `.hir` into coloured pieces.
#pragma once

#include <string_view>
#include <vector>

#include "gui/draw/theme.h"

namespace hostir::gui {

struct CodePiece {
  std::string_view text;
  ImU32 colour = 0;
};

/// The pieces of a line, in order, without gaps. They are views into `line`.
std::vector<CodePiece> colour_line(std::string_view line, const Palette& palette);

/// The `%name` or `@name` at a byte column; empty if there is none.
std::string_view name_at(std::string_view line, size_t column);

}  // namespace hostir::gui
