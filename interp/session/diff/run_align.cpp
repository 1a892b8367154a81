// Aligns instructions of two programs: by text, and the rest between equal ones by mnemonic.
#include <algorithm>
#include <string>
#include <unordered_map>

#include "interp/session/diff/run_diff.h"

namespace hostir::interp {

namespace {

// A section of both lists, as half-open ranges.
struct Part {
  size_t a0, a1, b0, b1;
};

class Aligner {
 public:
  Aligner(const std::vector<LogInstruction>& a, const std::vector<LogInstruction>& b)
      : a_(a), b_(b), to_a_(b.size(), kNoInstruction) {}

  std::vector<CodeIndex> run() {
    align({0, a_.size(), 0, b_.size()});
    return std::move(to_a_);
  }

 private:
  void pair(size_t a, size_t b) { to_a_[b] = static_cast<CodeIndex>(a); }

  // Matches equal ends, then lines that are unique and in the same order on both sides (patience
  // diff), then recursively the sections between them; sections without such lines are matched by
  // mnemonic.
  void align(Part part) {
    std::vector<Part> open{part};
    while (!open.empty()) {
      Part p = open.back();
      open.pop_back();
      while (p.a0 < p.a1 && p.b0 < p.b1 && a_[p.a0].text == b_[p.b0].text) pair(p.a0++, p.b0++);
      while (p.a0 < p.a1 && p.b0 < p.b1 && a_[p.a1 - 1].text == b_[p.b1 - 1].text)
        pair(--p.a1, --p.b1);
      if (p.a0 == p.a1 || p.b0 == p.b1) continue;
      const auto anchors = unique_in_order(p);
      if (anchors.empty()) {
        by_mnemonic(p);
        continue;
      }
      size_t a = p.a0;
      size_t b = p.b0;
      for (const auto& [x, y] : anchors) {
        open.push_back({a, x, b, y});
        pair(x, y);
        a = x + 1;
        b = y + 1;
      }
      open.push_back({a, p.a1, b, p.b1});
    }
  }

  // The longest ascending run of lines that occur exactly once in each section.
  std::vector<std::pair<size_t, size_t>> unique_in_order(const Part& p) const {
    struct Seen {
      size_t count_a = 0, count_b = 0, a = 0, b = 0;
    };
    std::unordered_map<std::string, Seen> seen;
    for (size_t i = p.a0; i < p.a1; ++i) {
      Seen& s = seen[a_[i].text];
      ++s.count_a;
      s.a = i;
    }
    for (size_t i = p.b0; i < p.b1; ++i) {
      Seen& s = seen[b_[i].text];
      ++s.count_b;
      s.b = i;
    }
    std::vector<std::pair<size_t, size_t>> both;
    for (const auto& [text, s] : seen) {
      if (s.count_a == 1 && s.count_b == 1) both.emplace_back(s.a, s.b);
    }
    std::sort(both.begin(), both.end());
    return longest_ascending(both);
  }

  static std::vector<std::pair<size_t, size_t>> longest_ascending(
      const std::vector<std::pair<size_t, size_t>>& pairs) {
    std::vector<size_t> ends;  // index into `pairs`: end of the best run per length
    std::vector<size_t> before(pairs.size(), ~size_t{0});
    for (size_t i = 0; i < pairs.size(); ++i) {
      const auto at =
          std::lower_bound(ends.begin(), ends.end(), i, [&](size_t end, size_t candidate) {
            return pairs[end].second < pairs[candidate].second;
          });
      if (at != ends.begin()) before[i] = *std::prev(at);
      if (at == ends.end())
        ends.push_back(i);
      else
        *at = i;
    }
    std::vector<std::pair<size_t, size_t>> out;
    if (ends.empty()) return out;
    for (size_t i = ends.back(); i != ~size_t{0}; i = before[i]) out.push_back(pairs[i]);
    std::reverse(out.begin(), out.end());
    return out;
  }

  // Matches the same instruction with other operands or shapes: the next of the same mnemonic.
  void by_mnemonic(const Part& p) {
    size_t a = p.a0;
    for (size_t b = p.b0; b < p.b1; ++b) {
      const auto same = std::find_if(
          a_.begin() + static_cast<std::ptrdiff_t>(a),
          a_.begin() + static_cast<std::ptrdiff_t>(p.a1), [&](const LogInstruction& i) {
            return i.mnemonic == b_[b].mnemonic && i.kernel == b_[b].kernel;
          });
      const auto found = static_cast<size_t>(same - a_.begin());
      if (found == p.a1) continue;
      pair(found, b);
      a = found + 1;
    }
  }

  const std::vector<LogInstruction>& a_;
  const std::vector<LogInstruction>& b_;
  std::vector<CodeIndex> to_a_;
};

}  // namespace

std::vector<CodeIndex> align_instructions(const std::vector<LogInstruction>& a,
                                          const std::vector<LogInstruction>& b) {
  return Aligner(a, b).run();
}

}  // namespace hostir::interp
