#include "interp/session/predicate.h"

#include <gtest/gtest.h>

namespace hostir::interp {
namespace {

Expected<PredicateValue> lookup(const Predicate& leaf, const std::vector<int64_t>& index) {
  if (leaf.text == "rank") return PredicateValue(int64_t{3});
  if (leaf.text == "op") return PredicateValue(std::string("all_reduce"));
  if (leaf.text == "wait") return PredicateValue(int64_t{2500});
  if (leaf.text == "y" && leaf.kind == Predicate::Kind::kElement)
    return PredicateValue(static_cast<double>(index[0]) + 0.5);
  if (leaf.kind == Predicate::Kind::kCall && leaf.symbol == "tp") return PredicateValue(int64_t{1});
  return fail(ErrorKind::kUsage, "condition", "unknown " + leaf.text);
}

TEST(Predicate, Evaluates) {
  const struct {
    const char* text;
    bool holds;
  } cases[] = {{"rank == 3", true},
               {"rank in {0, 1}", false},
               {"rank in {0, 3} && op == \"all_reduce\"", true},
               {"op =~ \"all_*\"", true},
               {"op =~ \"?ll_gather\"", false},
               {"wait > 2us", true},
               {"wait > 2.6us", false},
               {"!(rank == 3) || coord(tp) == 1", true},
               {"%y[2] == 2.5", true},
               {"%y[rank - 1] > 2", true},
               {"-rank + 4 * 2 - 5 == 0", true},
               {"rank % 2 == 1", true},
               {"rank == 4 && nonsense == 1", false},
               {"1KiB == 1024", true}};
  for (const auto& c : cases) {
    const auto p = parse_predicate(c.text);
    ASSERT_TRUE(p) << c.text << p.error().message();
    const auto value = holds(*p, lookup);
    ASSERT_TRUE(value) << c.text << ": " << value.error().message();
    EXPECT_EQ(*value, c.holds) << c.text;
    const auto again = parse_predicate(to_string(*p));
    ASSERT_TRUE(again) << to_string(*p);
    EXPECT_EQ(*p, *again) << c.text << " -> " << to_string(*p);
  }
}

TEST(Predicate, ErrorsOfEvaluationNameTheCause) {
  for (const char* text : {"nonsense == 1", "rank == \"three\"", "rank / 0", "op + 1 == 2",
                           "9223372036854775807 + rank", "%y[0.5] > 1"}) {
    const auto p = parse_predicate(text);
    ASSERT_TRUE(p) << text;
    EXPECT_FALSE(holds(*p, lookup)) << text;
  }
}

}  // namespace
}  // namespace hostir::interp
