// Parses untrusted JSON. The library parses any depth, but prints and destroys recursively, so the
// depth is limited here.
#pragma once

#include <string_view>

namespace hostir::api {

inline constexpr int kMaxJsonDepth = 128;

/// The brackets of a text, outside of its strings, never nest deeper than kMaxJsonDepth.
inline bool nests_within_bounds(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxJsonDepth) return false;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return true;
}

/// Discarded (`is_discarded()`) if the text is not JSON or nests deeper than kMaxJsonDepth.
template <class Json>
Json parse_bounded(std::string_view text) {
  if (!nests_within_bounds(text)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

}  // namespace hostir::api
