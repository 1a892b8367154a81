// "did you mean" suggestions: the nearest valid name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/support/diagnostic.h"

namespace hostir::text {

/// Counts insertions, deletions, replacements and swaps of neighbours.
size_t edit_distance(std::string_view a, std::string_view b);
/// The candidate with the smallest edit distance, if that is small enough for a typo.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);
/// Adds `did you mean "x"?`, with the sigil before the name, if there is a near candidate.
void suggest(Diagnostic& diagnostic, std::string_view word,
             const std::vector<std::string>& candidates, std::string_view sigil = "");
/// `"a", "b", "c"`; `none` if empty.
std::string quoted_list(const std::vector<std::string>& words, std::string_view sigil = "");

}  // namespace hostir::text
