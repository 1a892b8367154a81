#include "traces/report/html.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "hostir/support/markup.h"
#include "hostir/support/text.h"
#include "interp/session/log/log_records.h"

namespace hostir::traces::report {

std::string json_string(std::string_view text) {
  std::string json =
      nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  std::string out;
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string escaped(std::string_view text) {
  // Through JSON, so that invalid UTF-8 is replaced.
  return escape_markup(nlohmann::json::parse(json_string(text)).get<std::string>());
}

std::string time_text(int64_t ns) { return ns == interp::kUnknownNs ? "?" : hostir::time_text(ns); }

std::string rank_class(int64_t rank) { return fmt::format("r{}", rank < 0 ? 0 : rank % 10); }

}  // namespace hostir::traces::report
