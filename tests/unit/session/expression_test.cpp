#include "interp/session/expressions/expression.h"

#include <gtest/gtest.h>

#include <cmath>

#include "interp/session/expressions/watch_expr.h"

namespace hostir::interp {
namespace {

Expected<ExpressionValue> lookup(const Expression& leaf, const std::vector<SliceRange>& slice) {
  if (leaf.text == "rank") return ExpressionValue(int64_t{3});
  if (leaf.text == "op") return ExpressionValue(std::string("all_reduce"));
  if (leaf.text == "wait") return ExpressionValue(int64_t{2500});
  if (leaf.text == "unknown") return ExpressionValue(std::nan(""));
  if (leaf.text == "y" && leaf.kind == Expression::Kind::kElement)
    return ExpressionValue(static_cast<double>(slice[0].lo) + 0.5);
  if (leaf.text == "max") return ExpressionValue(static_cast<double>(slice[1].hi));
  if (leaf.text == "coord" && leaf.args[0].text == "tp") return ExpressionValue(int64_t{1});
  return fail(ErrorKind::kUsage, "condition", "unknown " + leaf.text);
}

TEST(Expression, Evaluates) {
  const struct {
    const char* text;
    bool holds;
  } cases[] = {{"rank == 3", true},
               {"rank in {0, 1}", false},
               {"rank in {0, 2..5}", true},
               {"rank in {0..2, 4 .. 6}", false},
               {"rank in {0, 3} && op == \"all_reduce\"", true},
               {"op =~ \"all_*\"", true},
               {"op =~ \"?ll_gather\"", false},
               {"op contains \"l_r\" and not op contains \"gather\"", true},
               {"wait > 2us", true},
               {"wait > 2.6us", false},
               {"!(rank == 3) || coord(tp) == 1", true},
               {"%y[2] == 2.5", true},
               {"%y[rank - 1] > 2", true},
               {"max(%y[0, :rank]) == rank", true},
               {"%y[:, 2:7].max == max(%y[:, 2:7])", true},
               {"-rank + 4 * 2 - 5 == 0", true},
               {"rank % 2 == 1", true},
               {"rank == 4 && nonsense == 1", false},
               {"unknown < 1 || unknown >= 1 || unknown == 1", false},
               {"1KiB == 1024 && 4K == 4096B", true}};
  for (const auto& c : cases) {
    const auto e = parse_expression(c.text);
    ASSERT_TRUE(e) << c.text << e.error().message();
    const auto value = holds(*e, lookup);
    ASSERT_TRUE(value) << c.text << ": " << value.error().message();
    EXPECT_EQ(*value, c.holds) << c.text;
    const auto again = parse_expression(to_string(*e));
    ASSERT_TRUE(again) << to_string(*e);
    EXPECT_EQ(*e, *again) << c.text << " -> " << to_string(*e);
  }
}

TEST(Expression, ErrorsOfEvaluationNameTheCause) {
  for (const char* text : {"nonsense == 1", "rank == \"three\"", "rank / 0", "op + 1 == 2",
                           "9223372036854775807 + rank", "%y[0.5] > 1", "%y[0 - rank] > 1"}) {
    const auto e = parse_expression(text);
    ASSERT_TRUE(e) << text;
    EXPECT_FALSE(holds(*e, lookup)) << text;
  }
}

TEST(Expression, NamesAndTypesAreCheckedWhereItIsUsed) {
  static constexpr Environment::Field kFields[] = {{"rank", {NameType::Values::kNumbers, false}},
                                                   {"op", {NameType::Values::kTexts, true}}};
  const Environment environment{kFields, [](const Expression& e) -> Expected<NameType> {
                                  if (e.kind == Expression::Kind::kCall) return NameType{};
                                  return fail(ErrorKind::kUsage, "condition",
                                              "no value %" + e.text);
                                }};
  const struct {
    const char* text;
    const char* error;  // null: none
    bool by_place;
  } cases[] = {{"op == all_reduce && 2 < 3", nullptr, true},
               {"op in {send, recv} || rank == 0", nullptr, false},
               {"max(%y[rank, 0]) > 0", nullptr, false},
               {"max(%y[colour]) > 0", "unknown field \"colour\"; fields are rank op", false},
               {"colour == 1", "unknown field \"colour\"; fields are rank op", false},
               {"rank == three", "cannot compare a number with a text in \"rank == three\"", false},
               {"rank in {0, one}", "cannot compare a number with a text", false},
               {"op + 1 == 2", "cannot calculate with a text in \"op + 1\"", false},
               {"rank =~ \"1*\"", "=~ compares texts", false},
               {"%x > 1", "no value %x", false}};
  for (const auto& c : cases) {
    const auto e = parse_expression(c.text);
    ASSERT_TRUE(e) << c.text << e.error().message();
    const auto type = check(*e, environment);
    EXPECT_EQ(type.has_value(), c.error == nullptr) << c.text;
    if (type) {
      EXPECT_EQ(type->by_place, c.by_place) << c.text;
    } else {
      EXPECT_NE(type.error().message().find(c.error), std::string::npos)
          << c.text << ": " << type.error().message();
    }
  }
}

TEST(Expression, IsBounded) {
  std::string sum = "1";
  for (int i = 0; i < 100000; ++i) sum += "+1";
  EXPECT_FALSE(parse_expression(sum));
  std::string indices = "%y";
  for (int i = 0; i < 100000; ++i) indices += "[%y";
  EXPECT_FALSE(parse_expression(indices));
}

TEST(Watch, IsAnExpressionOfOneTensor) {
  const auto watch = parse_watch("%y[0, 1:3].max");
  ASSERT_TRUE(watch) << watch.error().message();
  EXPECT_EQ(watch->value, "y");
  EXPECT_EQ(to_string(watch->slice), "[0, 1:3]");
  EXPECT_EQ(to_string(watch->expression), "max(%y[0, 1:3])");
  EXPECT_EQ(parse_watch("%h.grad")->value, "h.grad") << "names may have dots";
  EXPECT_EQ(parse_watch("%20.max")->value, "20") << "names may be numbers";
  for (const char* wrong :
       {"", "%y[", "%y[-1]", "rank", "1 + 1", "%x.max - %y.max", "%y[0] + %y[1]", "max(%y) rank 1",
        "%y[0].median", "coord(tp) + %y.max"})
    EXPECT_FALSE(parse_watch(wrong)) << wrong;

  Tensor tensor = Tensor::zeros(DType::kF32, {2, 3});
  for (int64_t i = 0; i < 6; ++i) tensor.set_double(i, static_cast<double>(i * i));
  const auto cell = [&](const char* text) { return watch_text(*parse_watch(text), tensor); };
  EXPECT_EQ(cell("%y"), "0 .. 25");
  EXPECT_EQ(cell("%y.sum"), "55");
  EXPECT_EQ(cell("%y.max - %y.min"), "25");
  EXPECT_EQ(cell("max(%y) > 20"), "1");
  EXPECT_NE(cell("%y[0] + 1").find("6 elements"), std::string::npos);
  tensor.set_double(2, std::nan(""));
  EXPECT_EQ(cell("%y"), "0 .. 25  1 NaN");
  EXPECT_EQ(cell("%y.nan"), "1");
  EXPECT_EQ(cell("%y.max"), "25");
  EXPECT_EQ(cell("%y.mean"), "NaN");
}

}  // namespace
}  // namespace hostir::interp
