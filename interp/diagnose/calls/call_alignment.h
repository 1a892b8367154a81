// Aligns the calls of two ranks: the edits that turn one list into the other.
#pragma once

#include <string>
#include <vector>

namespace hostir::diagnose {

/// The first edit of the cheapest alignment of two lists of calls.
enum class FirstEdit : uint8_t {
  kSame,
  kOther,       // replaced by another call
  kSwapped,     // the first two are swapped
  kOnlyFirst,   // `b` does not have the first call of `a`
  kOnlySecond,  // `a` does not have the first call of `b`
};
struct CallAlignment {
  FirstEdit first = FirstEdit::kSame;
  size_t run = 0;      // matching calls right after the edit
  size_t matches = 0;  // all matching calls after the edit
};

/// Optimal string alignment: insertions, deletions, replacements and swaps of neighbours cost one.
/// In a loop the same difference recurs in every iteration, so the calls right after the edit count
/// most: prefers the edit with the longest run (up to 3), then the lowest cost, then the most
/// matches.
/// Cost: O(a.size() * b.size()).
CallAlignment align_calls(const std::vector<std::string>& a, const std::vector<std::string>& b);

}  // namespace hostir::diagnose
