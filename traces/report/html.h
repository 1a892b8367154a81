// Escaping, and numbers for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hostir::traces::report {

/// Safe as text and in quoted attributes. Invalid UTF-8 becomes U+FFFD, a control character `?`.
std::string escaped(std::string_view text);
/// Safe as JavaScript data inside <script>: a JSON string with quotes.
std::string json_string(std::string_view text);
/// `2.1 ms`; `?` for kUnknownNs.
std::string time_text(int64_t ns);
/// A color class `r0`..`r9` for a rank, repeating.
std::string rank_class(int64_t rank);

}  // namespace hostir::traces::report
