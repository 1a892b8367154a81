// Two ranks' calls, aligned: what has to be done to one to get the other.
#pragma once

#include <string>
#include <vector>

namespace hostir::diagnose {

/// What stands at the front of the cheapest alignment of two lists of calls.
enum class FirstEdit : uint8_t {
  kSame,
  kOther,       // another call in its place
  kSwapped,     // the first two are in the other order
  kOnlyFirst,   // `a` begins with a call that `b` leaves out
  kOnlySecond,  // the other way round
};
struct CallAlignment {
  FirstEdit first = FirstEdit::kSame;
  size_t run = 0;      // calls right after the front that fit each other without a gap
  size_t matches = 0;  // all calls after the front that fit each other
};

/// Optimal string alignment: insertions, deletions, replacements and swaps of neighbours cost one.
/// What follows at once weighs most, for in a loop the same difference comes again in every
/// iteration: the front with the longest run (up to 3) is chosen, then the cheapest, then the one
/// with the most calls that fit. O(a.size() * b.size()).
CallAlignment align_calls(const std::vector<std::string>& a, const std::vector<std::string>& b);

}  // namespace hostir::diagnose
