#include "traces/import/formats/file_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <set>
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

using Ranks = std::vector<std::optional<model::Rank>>;

/// `node3`, `worker-2`: computers are numbered in other ways than ranks.
bool numbers_a_computer(std::string_view before) {
  while (!before.empty() && (before.back() == '-' || before.back() == '_' || before.back() == '.'))
    before.remove_suffix(1);
  constexpr std::array<std::string_view, 4> kWords = {"host", "node", "worker", "machine"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return before.ends_with(word); });
}

/// Empty for numbers that are no rank.
std::vector<std::string_view> numbers_in(std::string_view name) {
  std::vector<std::string_view> out;
  for (size_t at = 0; at < name.size();) {
    size_t end = at;
    while (end < name.size() && is_digit(name[end])) ++end;
    if (end > at) {
      const bool is_rank = !numbers_a_computer(name.substr(0, at));
      out.push_back(is_rank ? name.substr(at, end - at) : std::string_view());
    }
    at = std::max(end, at + 1);
  }
  return out;
}

bool are_good(const Ranks& ranks, const std::function<bool(size_t, model::Rank)>& fits) {
  std::set<model::Rank> seen;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (!ranks[i] || !fits(i, *ranks[i]) || !seen.insert(*ranks[i]).second) return false;
  }
  return true;
}

}  // namespace

std::optional<model::Rank> rank_in_name(const std::string& path) {
  const std::filesystem::path file(path);
  if (const auto rank = in_part(without_endings(file.filename().string()))) return rank;
  return in_part(file.parent_path().filename().string());
}

Ranks ranks_in_names(const std::vector<std::string>& paths,
                     const std::function<bool(size_t, model::Rank)>& fits) {
  Ranks usual;
  std::vector<std::string> names;
  std::vector<std::vector<std::string_view>> numbers;
  size_t places = SIZE_MAX;
  names.reserve(paths.size());
  for (const std::string& path : paths) {
    usual.push_back(rank_in_name(path));
    numbers.push_back(numbers_in(names.emplace_back(std::filesystem::path(path).filename())));
    places = std::min(places, numbers.back().size());
  }
  if (paths.empty() || are_good(usual, fits)) return usual;
  for (size_t place = 0; place < places; ++place) {
    Ranks ranks;
    for (const auto& in_name : numbers) ranks.push_back(number(in_name[place]));
    if (are_good(ranks, fits)) return ranks;
  }
  return usual;
}

std::string pattern_of_name(const std::string& path) {
  std::string out;
  for (const char c : std::filesystem::path(path).filename().string()) {
    if (!is_digit(c)) {
      out += c;
    } else if (out.empty() || out.back() != '#') {
      out += '#';
    }
  }
  return out;
}

}  // namespace hostir::traces::import
