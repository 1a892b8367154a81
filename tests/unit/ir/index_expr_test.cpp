// Simplification preserves values and is idempotent.
#include "hostir/ir/index_expr.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace hostir {
namespace {

IndexExpr random_expr(std::mt19937& random, int depth) {
  constexpr std::array<const char*, 3> kNames = {"A", "B", "C"};
  if (depth == 0 || random() % 5 == 0) {
    if (random() % 3 == 0) return static_cast<int64_t>(random() % 7) - 3;
    return IndexExpr::size(kNames[random() % kNames.size()]);
  }
  constexpr std::array<IndexExpr::Kind, 7> kKinds = {
      IndexExpr::Kind::kAdd, IndexExpr::Kind::kSub, IndexExpr::Kind::kMul, IndexExpr::Kind::kDiv,
      IndexExpr::Kind::kMod, IndexExpr::Kind::kMin, IndexExpr::Kind::kMax};
  IndexExpr a = random_expr(random, depth - 1);
  IndexExpr b = random_expr(random, depth - 1);
  return IndexExpr::binary(kKinds[random() % kKinds.size()], std::move(a), std::move(b));
}

TEST(IndexExpr, SimplifiedHasTheSameValue) {
  std::mt19937 random(1);
  for (int turn = 0; turn < 3000; ++turn) {
    const IndexExpr e = random_expr(random, 5);
    const IndexExpr simple = e.simplified();
    EXPECT_EQ(simple.simplified(), simple) << e.to_string();
    SizeBindings sizes;
    for (const char* name : {"A", "B", "C"}) sizes.bind(name, static_cast<int64_t>(random() % 9));
    const auto wanted = e.evaluate(sizes.lookup());
    if (!wanted) continue;  // simplification may have multiplied a division by zero by zero
    const auto got = simple.evaluate(sizes.lookup());
    ASSERT_TRUE(got) << e.to_string() << " became " << simple.to_string();
    EXPECT_EQ(*got, *wanted) << e.to_string() << " became " << simple.to_string();
    const IndexExpr bound = e.simplified(sizes.lookup());
    ASSERT_TRUE(bound.is_const()) << e.to_string() << " became " << bound.to_string();
    EXPECT_EQ(bound.value(), *wanted) << e.to_string();
  }
}

TEST(IndexExpr, AnUnknownSizeIsNamed) {
  const auto value = IndexExpr::size("A").evaluate(SizeBindings().lookup());
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().diagnostics.front().id, "index_unbound");
  EXPECT_EQ(value.error().message(), "?A has no value here");
}

TEST(IndexExpr, SumsOfProductsCompareEqual) {
  const IndexExpr a = IndexExpr::size("A");
  const IndexExpr b = IndexExpr::size("B");
  const auto add = [](const IndexExpr& x, const IndexExpr& y) {
    return IndexExpr::binary(IndexExpr::Kind::kAdd, x, y);
  };
  const auto times = [](const IndexExpr& x, const IndexExpr& y) {
    return IndexExpr::binary(IndexExpr::Kind::kMul, x, y);
  };
  EXPECT_EQ(times(add(a, b), add(b, a)).simplified(),
            add(add(times(b, b), times(a, a)), times(times(a, 2), b)).simplified());
  EXPECT_EQ(IndexExpr::binary(IndexExpr::Kind::kSub, add(a, b), add(b, a)).simplified(), 0);
}

// INT64_MIN has no positive counterpart; simplification must not lose it.
TEST(IndexExpr, TheLeastIntegerStays) {
  const IndexExpr a = IndexExpr::size("A");
  const IndexExpr e = IndexExpr::binary(IndexExpr::Kind::kAdd, a, INT64_MIN);
  const IndexExpr product = IndexExpr::binary(IndexExpr::Kind::kMul, a, INT64_MIN);
  SizeBindings sizes;
  sizes.bind("A", 1);
  EXPECT_EQ(e.simplified().evaluate(sizes.lookup()).value(), INT64_MIN + 1);
  EXPECT_EQ(product.simplified().evaluate(sizes.lookup()).value(), INT64_MIN);
}

}  // namespace
}  // namespace hostir
