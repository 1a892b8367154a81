#include "hostir/text/suggest.h"

#include <algorithm>

namespace hostir::text {

namespace {

constexpr size_t kLongestWord = 64;

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

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
