#include "interp/diagnose/calls/call_alignment.h"

#include <algorithm>

namespace hostir::diagnose {

namespace {

constexpr size_t kLongestRun = 3;

// Best alignment of the remaining lists: lower cost first, then more matches.
struct Cell {
  size_t cost = 0;
  size_t matches = 0;
  FirstEdit edit = FirstEdit::kSame;  // edit at its front
  bool better_than(const Cell& other) const {
    return cost != other.cost ? cost < other.cost : matches > other.matches;
  }
};

}  // namespace

CallAlignment align_calls(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const size_t n = a.size();
  const size_t m = b.size();
  std::vector<std::vector<Cell>> rest(n + 1, std::vector<Cell>(m + 1));
  for (size_t i = n + 1; i-- > 0;) {
    for (size_t j = m + 1; j-- > 0;) {
      if (i == n && j == m) continue;
      Cell best{n + m + 1, 0, FirstEdit::kOther};
      const auto consider = [&](const Cell& after, size_t cost, size_t matches, FirstEdit edit) {
        const Cell one{after.cost + cost, after.matches + matches, edit};
        if (one.better_than(best)) best = one;
      };
      if (i < n && j < m) {
        const bool same = a[i] == b[j];
        consider(rest[i + 1][j + 1], same ? 0 : 1, same ? 1 : 0,
                 same ? FirstEdit::kSame : FirstEdit::kOther);
      }
      if (i + 1 < n && j + 1 < m && a[i] == b[j + 1] && a[i + 1] == b[j] && a[i] != b[j])
        consider(rest[i + 2][j + 2], 1, 2, FirstEdit::kSwapped);
      if (i < n) consider(rest[i + 1][j], 1, 0, FirstEdit::kOnlyFirst);
      if (j < m) consider(rest[i][j + 1], 1, 0, FirstEdit::kOnlySecond);
      rest[i][j] = best;
    }
  }
  CallAlignment out;
  Cell chosen{n + m + 1, 0, FirstEdit::kOther};
  const auto consider = [&](FirstEdit edit, size_t i, size_t j, size_t cost) {
    if (i > n || j > m) return;
    size_t run = edit == FirstEdit::kSwapped ? 2 : 0;
    for (size_t k = 0; i + k < n && j + k < m && a[i + k] == b[j + k]; ++k) ++run;
    run = std::min(run, kLongestRun);
    const Cell one{rest[i][j].cost + cost, rest[i][j].matches, edit};
    if (run < out.run || (run == out.run && !one.better_than(chosen))) return;
    chosen = one;
    out = {edit, run, one.matches + (edit == FirstEdit::kSwapped ? 2 : 0)};
  };
  if (n > 0 && m > 0 && a[0] == b[0]) return {FirstEdit::kSame, 0, rest[0][0].matches};
  if (n > 1 && m > 1 && a[0] == b[1] && a[1] == b[0]) consider(FirstEdit::kSwapped, 2, 2, 1);
  consider(FirstEdit::kOther, 1, 1, 1);
  consider(FirstEdit::kOnlyFirst, 1, 0, 1);
  consider(FirstEdit::kOnlySecond, 0, 1, 1);
  return out;
}

}  // namespace hostir::diagnose
