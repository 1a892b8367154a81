#include <gtest/gtest.h>

#include <cmath>

#include "hostir/io/generate.h"
#include "hostir/ir/inline_value.h"

namespace hostir::io {
namespace {

TEST(InlineValue, ReadsTheFormsOfTheLanguage) {
  const auto v = parse_inline_value("2x3xf32=[1 2 3][4 5 6]");
  ASSERT_TRUE(v.has_value());
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(v->get_double(i), static_cast<double>(i + 1));
  EXPECT_EQ(parse_inline_value("f32=3")->get_double(0), 3);
  EXPECT_EQ(parse_inline_value("4xi32=7")->get_int(3), 7);
  EXPECT_TRUE(std::isnan(parse_inline_value("1xf64=[nan]")->get_double(0)));
  EXPECT_EQ(parse_inline_value("2xi1=[true false]")->get_int(0), 1);
  EXPECT_EQ(parse_inline_value("0x3xf32=")->element_count(), 0);
  EXPECT_EQ(parse_inline_value("2x2x2xi32=[[1 2][3 4]][[5 6][7 8]]")->get_int(6), 7);
}

TEST(InlineValue, RoundTrips) {
  for (const char* text :
       {"2x3xf32=[1 2 3][4 5 6]", "f32=3", "4xf32=[0.1 -2.5 inf 1e-30]",
        "2x0xf32=", "2x2x1xi8=[[1][2]][[3][-4]]", "3xi1=[1 0 1]", "0xf32=", "2xbf16=[1.5 -2]"}) {
    const auto v = parse_inline_value(text);
    ASSERT_TRUE(v.has_value()) << text;
    EXPECT_EQ(format_inline_value(*v), text);
  }
}

TEST(InlineValue, ErrorsSayWhatIsWrong) {
  for (const char* text : {"", "4xf32", "4xf33=[1]", "2xf32=[1 2 3]", "2xf32=[1", "2xi8=[1 300]",
                           "2xf32=[1 x]", "99999999999999999999xf32=1"}) {
    EXPECT_FALSE(parse_inline_value(text).has_value()) << text;
  }
}

TEST(Generate, UniformAndNormalHaveTheRightMoments) {
  const auto normal = generate(*parse_value_spec("normal(3)"), DType::kF64, {100000});
  double sum = 0;
  double squares = 0;
  for (int64_t i = 0; i < 100000; ++i) {
    sum += normal->get_double(i);
    squares += normal->get_double(i) * normal->get_double(i);
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.02);
  EXPECT_NEAR(squares / 1e5, 1, 0.02);
  const auto uniform = generate(*parse_value_spec("uniform(3, -1, 3)"), DType::kF32, {10000});
  for (int64_t i = 0; i < 10000; ++i) {
    EXPECT_GE(uniform->get_double(i), -1);
    EXPECT_LT(uniform->get_double(i), 3);
  }
}

TEST(ValueSpec, RoundTrips) {
  for (const char* text : {"@x.npy", "full(1.5)", "iota", "uniform(7, -1, 1)", "normal(3)",
                           "normal(3, 4x8xf32)", "iota(4xi32)"}) {
    const auto spec = parse_value_spec(text);
    ASSERT_TRUE(spec.has_value()) << text;
    EXPECT_EQ(format_value_spec(*spec), text);
  }
  for (const char* text : {"normal(x)", "uniform(1, 2, 3, 4)"}) {
    const auto spec = parse_value_spec(text);
    ASSERT_FALSE(spec.has_value()) << text;
    EXPECT_EQ(spec.error().diagnostics.front().id, "value_syntax");
  }
}

}  // namespace
}  // namespace hostir::io
