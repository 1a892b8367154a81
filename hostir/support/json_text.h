// Prints JSON. The library's dump() throws on bytes that are not UTF-8, which names in users' files
// may contain; this replaces them.
#pragma once

#include <string>

namespace hostir {

/// On one line; with `indent`, a line per element.
template <class Json>
std::string json_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hostir
