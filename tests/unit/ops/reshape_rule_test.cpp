// Correctness of reshape's sharding rule: the factors multiply up to the dimensions, and a factor
// on both sides has the same stride in both, so that sharding it cuts the same elements.
#include "hostir/ops/reshape_rule.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace hostir {
namespace {

using Strides = std::map<int, int64_t>;

int64_t size_of(const ShardingRule& rule, int factor) {
  return rule.factor_sizes[static_cast<size_t>(factor)].value();
}

// The stride of each factor in elements; also checks the sizes of the dimensions.
Strides strides_of(const ShardingRule& rule, const ShardingRule::TensorFactors& dims,
                   const Shape& shape) {
  Strides strides;
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    int64_t size = 1;
    for (size_t f = dims[d].size(); f-- > 0;) {
      const int factor = dims[d][f];
      EXPECT_TRUE(strides.emplace(factor, stride).second) << "a factor stands twice";
      stride *= size_of(rule, factor);
      size *= size_of(rule, factor);
    }
    EXPECT_EQ(IndexExpr(size), shape[d]) << "dimension " << d;
  }
  return strides;
}

// `count` split into random dimensions.
Shape random_shape(int64_t count, std::mt19937& random) {
  Shape shape;
  while (count > 1 || random() % 3 == 0) {
    int64_t size = 1;
    for (const int64_t prime : {2, 3, 5, 7}) {
      while (count % prime == 0 && random() % 2 == 0) {
        size *= prime;
        count /= prime;
      }
    }
    shape.emplace_back(size);
  }
  return shape;
}

TEST(ReshapeRule, SharedFactorsHaveTheSameStride) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    int64_t count = 1;
    for (int i = 0; i < 6; ++i) count *= std::array<int64_t, 5>{1, 2, 3, 5, 7}[random() % 5];
    const Shape from = random_shape(count, random);
    const Shape to = random_shape(count, random);
    const ShardingRule rule = ops::reshape_rule(from, to);
    SCOPED_TRACE(rule.to_string());
    const Strides in = strides_of(rule, rule.operands[0], from);
    const Strides out = strides_of(rule, rule.results[0], to);
    for (const auto& [factor, stride] : in) {
      const auto there = out.find(factor);
      if (there != out.end()) {
        EXPECT_EQ(stride, there->second) << factor_name(factor);
      }
    }
  }
}

TEST(ReshapeRule, EqualShapesShareEverything) {
  const Shape shape = {4, 1, 6, 1};
  const ShardingRule rule = ops::reshape_rule(shape, shape);
  EXPECT_EQ(rule.operands, rule.results);
  EXPECT_EQ(rule.factor_count(), 4);
}

}  // namespace
}  // namespace hostir
