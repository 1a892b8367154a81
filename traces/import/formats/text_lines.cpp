#include "traces/import/formats/text_lines.h"

#include <algorithm>
#include <cstdint>

#include "hostir/io/plain_value.h"
#include "hostir/support/number_from.h"

namespace hostir::traces::import {

std::string_view take_line(std::string_view& rest) {
  const size_t end = std::min(rest.find('\n'), rest.size());
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

std::optional<std::string_view> word_after(std::string_view line, std::string_view word) {
  for (size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const bool begins = at == 0 || line[at - 1] == ' ' || line[at - 1] == '[';
    if (!begins) continue;
    const std::string_view rest = line.substr(at + word.size());
    return rest.substr(0, std::min(rest.find_first_of(" ]"), rest.size()));
  }
  return std::nullopt;
}

std::optional<int64_t> number_after(std::string_view line, std::string_view word) {
  const auto text = word_after(line, word);
  return text ? number_from<int64_t>(*text) : std::nullopt;
}

std::optional<uint64_t> parse_hex(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  return number_from<uint64_t>(text, 16);
}

std::optional<int64_t> parse_seconds(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const size_t dot = std::min(text.find('.'), text.size());
  const auto whole = number_from<int64_t>(text.substr(0, dot));
  if (!whole || *whole < 0) return std::nullopt;
  std::string_view digits = text.substr(std::min(dot + 1, text.size()));
  if (digits.size() > 9) return std::nullopt;
  int64_t ns = 0;
  if (!digits.empty()) {
    const auto part = number_from<int64_t>(digits);
    if (!part || *part < 0) return std::nullopt;
    ns = *part;
  }
  for (size_t i = digits.size(); i < 9; ++i) ns *= 10;
  int64_t all = 0;
  if (__builtin_mul_overflow(*whole, int64_t{1'000'000'000}, &all) ||
      __builtin_add_overflow(all, ns, &all)) {
    return std::nullopt;
  }
  return all;
}

}  // namespace hostir::traces::import
