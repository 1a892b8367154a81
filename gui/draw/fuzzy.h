// Fuzzy matching for the palette.
#pragma once

#include <optional>
#include <string_view>

namespace hostir::gui {

/// Scores how well `wanted` matches `text`: its letters must occur in this order, ignoring case and
/// blanks. Higher is better; word starts and unbroken runs score more than scattered letters.
/// nullopt if there is no match.
std::optional<int> fuzzy_score(std::string_view text, std::string_view wanted);

}  // namespace hostir::gui
