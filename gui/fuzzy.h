// Finding by a few letters, as palettes do.
#pragma once

#include <optional>
#include <string_view>

namespace hostir::gui {

/// How well `wanted` fits `text`: its letters must occur in this order, ignoring case and blanks.
/// Higher is better: beginnings of words and unbroken runs count more than scattered letters.
/// nullopt: it does not fit.
std::optional<int> fuzzy_score(std::string_view text, std::string_view wanted);

}  // namespace hostir::gui
