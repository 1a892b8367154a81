#include "hostir/support/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace hostir {
namespace {

size_t characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

std::string bytes_text(int64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  int64_t size = 1;
  size_t unit = 0;
  while (unit + 1 < kUnits.size() &&
         (bytes / size >= 10240 || (bytes / size >= 1024 && bytes % (size * 1024) == 0))) {
    size *= 1024;
    ++unit;
  }
  if (bytes % size == 0) return fmt::format("{} {}", bytes / size, kUnits[unit]);
  return fmt::format("{:.1f} {}", static_cast<double>(bytes) / static_cast<double>(size),
                     kUnits[unit]);
}

std::string time_text(double ns) {
  const double size = std::fabs(ns);
  if (size < 1e3) return fmt::format("{:.0f} ns", ns);
  if (size < 1e6) return fmt::format("{:.4g} us", ns / 1e3);
  if (size < 1e9) return fmt::format("{:.4g} ms", ns / 1e6);
  return fmt::format("{:.4g} s", ns / 1e9);
}

std::string aligned(const std::vector<std::vector<std::string>>& rows,
                    const std::vector<bool>& right) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], characters(row[c]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string pad(widths[c] - characters(row[c]), ' ');
      line += c > 0 ? "  " : "";
      line += c < right.size() && right[c] ? pad + row[c] : row[c] + pad;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string ranges_text(std::span<const int32_t> numbers, const RangeStyle& style) {
  std::string out;
  size_t pieces = 0;
  for (size_t i = 0; i < numbers.size(); ++pieces) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (end - i < style.shortest) end = i + 1;
    if (pieces == style.most) return out + fmt::format(" and {} more", numbers.size() - i);
    out += fmt::format("{}{}{}", i > 0 ? ", " : "", style.prefix, numbers[i]);
    if (end - i > 1) out += fmt::format("..{}{}", style.prefix, numbers[end - 1]);
    i = end;
  }
  return out;
}

std::string index_text(std::span<const int64_t> index) {
  return fmt::format("[{}]", fmt::join(index, ", "));
}

std::string counted(size_t n, std::string_view one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace hostir
