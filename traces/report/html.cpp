#include "traces/report/html.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "interp/session/log_records.h"

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
  const std::string clean = nlohmann::json::parse(json_string(text)).get<std::string>();
  std::string out;
  for (const char c : clean) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') ? '?' : c;
    }
  }
  return out;
}

std::string time_text(int64_t ns) {
  if (ns == interp::kUnknownNs) return "?";
  const double value = static_cast<double>(ns);
  const double size = std::abs(value);
  if (size < 1e3) return fmt::format("{} ns", ns);
  if (size < 1e6) return fmt::format("{:.4g} µs", value / 1e3);
  if (size < 1e9) return fmt::format("{:.4g} ms", value / 1e6);
  return fmt::format("{:.4g} s", value / 1e9);
}

std::string bytes_text(int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (std::abs(value) >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

std::string rank_class(int64_t rank) { return fmt::format("r{}", rank < 0 ? 0 : rank % 10); }

}  // namespace hostir::traces::report
