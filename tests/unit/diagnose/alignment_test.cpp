// Alignment of two ranks' calls.

#include <gtest/gtest.h>

#include "interp/diagnose/calls/call_alignment.h"

namespace hostir::diagnose {
namespace {

TEST(CallAlignment, TheFrontOfTheCheapestAlignment) {
  using List = std::vector<std::string>;
  EXPECT_EQ(align_calls({"a", "b"}, {"a", "b"}).first, FirstEdit::kSame);
  EXPECT_EQ(align_calls({"a", "b"}, {"b", "a"}).first, FirstEdit::kSwapped);
  EXPECT_EQ(align_calls({"a", "b", "c"}, {"b", "c"}).first, FirstEdit::kOnlyFirst);
  EXPECT_EQ(align_calls({"b", "c"}, {"a", "b", "c"}).first, FirstEdit::kOnlySecond);
  EXPECT_EQ(align_calls({"a", "b"}, {"x", "b"}).first, FirstEdit::kOther);
  // In a loop the difference recurs; the calls right after it decide.
  EXPECT_EQ(align_calls({"m", "s", "p", "m", "s", "p"}, {"s", "p", "s", "p", "s", "p"}).first,
            FirstEdit::kOnlyFirst);
  // Both lists are cut at the same length, so an omitted call shows up at the end as well.
  const CallAlignment cut = align_calls(List{"a", "b", "c", "d"}, List{"b", "c", "d", "e"});
  EXPECT_EQ(cut.first, FirstEdit::kOnlyFirst);
  EXPECT_EQ(cut.matches, 3u);
}

}  // namespace
}  // namespace hostir::diagnose
