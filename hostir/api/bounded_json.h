// Parses untrusted JSON. The library parses any depth, but prints and destroys recursively, so the
// depth is limited here.
#pragma once

#include <string_view>

namespace hostir::api {

inline constexpr int kMaxJsonDepth = 128;

/// Discarded (`is_discarded()`) if the text is not JSON or nests deeper than kMaxJsonDepth.
template <class Json>
Json parse_bounded(std::string_view text) {
  bool deep = false;
  const auto keep = [&](int depth, typename Json::parse_event_t, Json&) {
    deep = deep || depth > kMaxJsonDepth;
    return !deep;
  };
  Json out = Json::parse(text, keep, false);
  return deep ? Json(Json::value_t::discarded) : out;
}

}  // namespace hostir::api
