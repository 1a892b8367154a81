// "did you mean": the nearest of the names that would have been right.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/support/diagnostic.h"

namespace hostir::text {

/// The candidate with the smallest edit distance, if it is near enough to be a slip.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);
/// Adds `did you mean "x"?` (with the sigil before it) where there is a near candidate.
void suggest(Diagnostic& diagnostic, std::string_view word,
             const std::vector<std::string>& candidates, std::string_view sigil = "");
/// `"a", "b", "c"`; "none" if empty.
std::string quoted_list(const std::vector<std::string>& words, std::string_view sigil = "");

}  // namespace hostir::text
