#include "traces/import/file_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "hostir/io/plain_value.h"
#include "hostir/support/number_from.h"
#include "traces/import/process_dump.h"

namespace hostir::traces::import {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view without_endings(std::string_view name) {
  constexpr std::array<std::string_view, 10> kEndings = {
      ".gz", ".json", ".jsonl", ".pkl", ".pickle", ".pt", ".bin", ".log", ".txt", ".clog"};
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view ending : kEndings) {
      if (name.size() > ending.size() && name.ends_with(ending)) {
        name.remove_suffix(ending.size());
        again = true;
      }
    }
  }
  return name;
}

std::optional<model::Rank> number(std::string_view digits) {
  const auto value = number_from<int64_t>(digits);
  if (!value || *value >= kMostRanks) return std::nullopt;
  return static_cast<model::Rank>(*value);
}

/// The last `rank` followed by digits.
std::optional<model::Rank> behind_word(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::string_view kWord = "rank";
  for (size_t at = lower.rfind(kWord); at != std::string::npos;) {
    size_t begin = at + kWord.size();
    while (begin < lower.size() && (lower[begin] == '_' || lower[begin] == '-' ||
                                    lower[begin] == '=' || lower[begin] == '.')) {
      ++begin;
    }
    size_t end = begin;
    while (end < lower.size() && is_digit(lower[end])) ++end;
    if (end > begin) return number(name.substr(begin, end - begin));
    if (at == 0) break;
    at = lower.rfind(kWord, at - 1);
  }
  return std::nullopt;
}

std::optional<model::Rank> in_part(std::string_view name) {
  if (const auto rank = behind_word(name)) return rank;
  size_t begin = name.size();
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  return begin < name.size() ? number(name.substr(begin)) : std::nullopt;
}

}  // namespace

std::optional<model::Rank> rank_in_name(const std::string& path) {
  const std::filesystem::path file(path);
  if (const auto rank = in_part(without_endings(file.filename().string()))) return rank;
  return in_part(file.parent_path().filename().string());
}

}  // namespace hostir::traces::import
