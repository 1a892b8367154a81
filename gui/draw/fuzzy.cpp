#include "gui/draw/fuzzy.h"

#include <algorithm>
#include <cctype>

namespace hostir::gui {

namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

bool begins_word(std::string_view text, size_t at) {
  return at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1]));
}

// A text that contains the words as typed scores more: "theme" is not "the mesh".
int whole_bonus(std::string_view text, std::string_view wanted) {
  constexpr int kWhole = 6;
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  const auto found = std::search(text.begin(), text.end(), wanted.begin(), wanted.end(), same);
  if (wanted.empty() || found == text.end()) return 0;
  return begins_word(text, static_cast<size_t>(found - text.begin())) ? 2 * kWhole : kWhole;
}

}  // namespace

std::optional<int> fuzzy_score(std::string_view text, std::string_view wanted) {
  constexpr int kRun = 4;   // directly follows the previous match
  constexpr int kWord = 6;  // starts a word
  int score = 0;
  size_t at = 0;
  size_t last = std::string_view::npos;
  for (const char c : wanted) {
    if (c == ' ') continue;
    // Prefer the next letter of the run, then the next word start, then the next occurrence.
    size_t found = std::string_view::npos;
    if (last != std::string_view::npos && last + 1 < text.size() &&
        lower(text[last + 1]) == lower(c))
      found = last + 1;
    for (size_t i = at; found == std::string_view::npos && i < text.size(); ++i) {
      if (lower(text[i]) == lower(c) && begins_word(text, i)) found = i;
    }
    for (size_t i = at; found == std::string_view::npos && i < text.size(); ++i) {
      if (lower(text[i]) == lower(c)) found = i;
    }
    if (found == std::string_view::npos) return std::nullopt;
    score += 1 + (last != std::string_view::npos && found == last + 1 ? kRun : 0) +
             (begins_word(text, found) ? kWord : 0);
    last = found;
    at = found + 1;
  }
  score += whole_bonus(text, wanted);
  return score * 64 - static_cast<int>(std::min<size_t>(text.size(), 63));
}

}  // namespace hostir::gui
