#include "hostir/text/suggest.h"

#include <algorithm>

namespace hostir::text {

namespace {

constexpr size_t kLongestWord = 64;

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  if (word.size() > kLongestWord) return std::nullopt;
  std::optional<std::string> best;
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestWord || candidate.empty()) continue;
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

void suggest(Diagnostic& diagnostic, std::string_view word,
             const std::vector<std::string>& candidates, std::string_view sigil) {
  const auto best = nearest(word, candidates);
  if (!best) return;
  diagnostic.notes.push_back({"did you mean \"" + std::string(sigil) + *best + "\"?", {}});
}

std::string quoted_list(const std::vector<std::string>& words, std::string_view sigil) {
  std::string out;
  for (const std::string& word : words) {
    out += (out.empty() ? "\"" : ", \"") + std::string(sigil) + word + "\"";
  }
  return out.empty() ? "none" : out;
}

}  // namespace hostir::text
