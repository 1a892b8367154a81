// Sharding rules against Shardy's table (op_sharding_rule_registry.mlir), and the text form of
// rules.
// Differences: reductions here have no operand for the initial value; concat and slice do not look
// at the ops that produced their operands.
#include <gtest/gtest.h>

#include "calls.h"

namespace hostir {
namespace {

using test::Applied;
using test::attributes;
using test::tensor;

TEST(Rules, Pointwise) {
  EXPECT_EQ((Applied{OpKind::add, {tensor({2, 1, 4}), tensor({2, 1, 4})}}.rule()),
            "([i, j, k], [i, j, k])->([i, j, k]) {i=2, j=1, k=4}");
  EXPECT_EQ((Applied{OpKind::add, {tensor({2, 0, 4}), tensor({2, 0, 4})}}.rule()),
            "([i, j, k], [i, j, k])->([i, j, k]) {i=2, j=0, k=4}");
  EXPECT_EQ((Applied{OpKind::add, {tensor({}), tensor({})}}.rule()), "([], [])->([])");
  const Type p = tensor({4, 8}, DType::kI1);
  EXPECT_EQ((Applied{OpKind::select, {p, tensor({4, 8}), tensor({4, 8})}}.rule()),
            "([i, j], [i, j], [i, j])->([i, j]) {i=4, j=8}");
}

TEST(Rules, BroadcastInDim) {
  const auto rule = [](Shape from, IntList dims, ExprList to) {
    return Applied{OpKind::broadcast_in_dim,
                   {tensor(std::move(from))},
                   attributes({{"dims", std::move(dims)}, {"shape", std::move(to)}})}
        .rule();
  };
  EXPECT_EQ(rule({2, 13, 1}, {0, 2, 3}, {2, 64, 13, 1}),
            "([i, k, l])->([i, j, k, l]) {i=2, j=64, k=13, l=1}");
  EXPECT_EQ(rule({2, 13, 0}, {0, 2, 3}, {2, 64, 13, 0}),
            "([i, k, l])->([i, j, k, l]) {i=2, j=64, k=13, l=0}");
  EXPECT_EQ(rule({}, {}, {2, 1, 13}), "([])->([i, j, k]) {i=2, j=1, k=13}");
  EXPECT_EQ(rule({2, 1, 13}, {0, 1, 2}, {2, 64, 13}),
            "([i, j, l])->([i, k, l]) {i=2, j=1, k=64, l=13}");
  EXPECT_EQ(rule({2, 3, 5, 1, 7}, {0, 2, 1, 3, 4}, {2, 5, 3, 11, 7, 13}),
            "([i, k, j, l, n])->([i, j, k, m, n, o]) {i=2, j=5, k=3, l=1, m=11, n=7, o=13}");
}

TEST(Rules, MatrixProducts) {
  EXPECT_EQ((Applied{OpKind::matmul, {tensor({8, 32}), tensor({32, 16})}}.rule()),
            "([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}");
  EXPECT_EQ((Applied{OpKind::matmul, {tensor({4, 8, 32}), tensor({4, 32, 16})}}.rule()),
            "([i, j, l], [i, l, k])->([i, j, k]) {i=4, j=8, k=16, l=32} reduction={l}");
  EXPECT_EQ((Applied{OpKind::matmul, {tensor({4, 8, 32}), tensor({32, 16})}}.rule()),
            "([i, j, l], [l, k])->([i, j, k]) {i=4, j=8, k=16, l=32} reduction={l}");
  EXPECT_EQ((Applied{OpKind::linear, {tensor({8, 32}), tensor({16, 32}), tensor({16})}}.rule()),
            "([i, k], [j, k], [j])->([i, j]) {i=8, j=16, k=32} reduction={k}");
  EXPECT_EQ((Applied{OpKind::linear, {tensor({32}), tensor({16, 32})}}.rule()),
            "([j], [i, j])->([i]) {i=16, j=32} reduction={j}");
}

TEST(Rules, Reductions) {
  const auto rule = [](OpKind kind, Shape shape, IntList dims, bool keep) {
    return Applied{kind,
                   {tensor(std::move(shape))},
                   attributes({{"dims", std::move(dims)}, {"keep_dims", keep}})}
        .rule();
  };
  EXPECT_EQ(rule(OpKind::reduce_sum, {2, 64, 13}, {1}, false),
            "([i, j, k])->([i, k]) {i=2, j=64, k=13} reduction={j}");
  EXPECT_EQ(rule(OpKind::reduce_sum, {2, 64, 13}, {0, 2}, false),
            "([i, j, k])->([j]) {i=2, j=64, k=13} reduction={i, k}");
  EXPECT_EQ(rule(OpKind::reduce_sum, {2, 64, 1, 13}, {1}, false),
            "([i, j, k, l])->([i, k, l]) {i=2, j=64, k=1, l=13} reduction={j}");
  EXPECT_EQ(rule(OpKind::reduce_max, {2, 64, 13}, {1}, true),
            "([i, j, k])->([i, l, k]) {i=2, j=64, k=13, l=1} reduction=max{j}");
}

TEST(Rules, ReshapeMergesAndSplits) {
  const auto rule = [](Shape from, ExprList to) {
    return Applied{
        OpKind::reshape, {tensor(std::move(from))}, attributes({{"shape", std::move(to)}})}
        .rule();
  };
  EXPECT_EQ(rule({1, 1}, {}), "([i, j])->([]) {i=1, j=1}");
  EXPECT_EQ(rule({2, 4}, {8}), "([i, j])->([ij]) {i=2, j=4}");
  EXPECT_EQ(rule({8}, {2, 4}), "([ij])->([i, j]) {i=2, j=4}");
  EXPECT_EQ(rule({4, 12}, {4, 2, 3, 2}), "([i, jkl])->([i, j, k, l]) {i=4, j=2, k=3, l=2}");
  EXPECT_EQ(rule({8, 4, 5}, {2, 16, 5}), "([ij, k, l])->([i, jk, l]) {i=2, j=4, k=4, l=5}");
  EXPECT_EQ(rule({3, 2}, {2, 3}), "([i, l])->([j, k]) {i=3, j=2, k=3, l=2}");
  EXPECT_EQ(rule({6, 4}, {4, 6}), "([ij, mn])->([ik, ln]) {i=2, j=3, k=2, l=3, m=2, n=2}");
  EXPECT_EQ(rule({5, 2, 5, 3}, {5, 3, 5, 2}),
            "([i, j, l, n])->([i, k, m, o]) {i=5, j=2, k=3, l=5, m=5, n=3, o=2}");
  EXPECT_EQ(rule({2, 3, 8}, {3, 4, 4}),
            "([i, k, mn])->([j, lm, n]) {i=2, j=3, k=3, l=2, m=2, n=4}");
  EXPECT_EQ(rule({3, 4, 4}, {2, 3, 8}),
            "([i, lm, n])->([j, k, mn]) {i=3, j=2, k=3, l=2, m=2, n=4}");
  EXPECT_EQ(rule({4, 7, 5, 8}, {14, 10, 8}),
            "([ij, l, n, o])->([ik, mn, o]) {i=2, j=2, k=7, l=7, m=2, n=5, o=8}");
  EXPECT_EQ(rule({1, 8, 4}, {8, 1, 4, 1}), "([i, j, l])->([j, k, l, m]) {i=1, j=8, k=1, l=4, m=1}");
  EXPECT_EQ(rule({8, 4}, {32, 1}), "([i, j])->([ij, k]) {i=8, j=4, k=1}");
  EXPECT_EQ(rule({32, 1}, {8, 4}), "([ij, k])->([i, j]) {i=8, j=4, k=1}");
  EXPECT_EQ(rule({32}, {8, 1, 4}), "([ik])->([i, j, k]) {i=8, j=1, k=4}");
}

TEST(Rules, ReshapeOfSymbolicAndEmptySizes) {
  const IndexExpr b = IndexExpr::size("B");
  const IndexExpr s = IndexExpr::size("S");
  const IndexExpr bs = IndexExpr::binary(IndexExpr::Kind::kMul, b, s);
  const Applied merge{
      OpKind::reshape, {tensor({b, s, 32})}, attributes({{"shape", ExprList{bs, 32}}})};
  EXPECT_EQ(merge.broken(), "");
  EXPECT_EQ(merge.rule(), "([i, j, k])->([ij, k]) {i=?B, j=?S, k=32}");
  const Applied heads{
      OpKind::reshape, {tensor({b, 32})}, attributes({{"shape", ExprList{b, 4, 8}}})};
  EXPECT_EQ(heads.rule(), "([i, jk])->([i, j, k]) {i=?B, j=4, k=8}");
  const Applied none{
      OpKind::reshape, {tensor({2, 0, 3})}, attributes({{"shape", ExprList{2, 6, 0}}})};
  EXPECT_EQ(none.rule(), "([i, j, k])->([i, l, m]) {i=2, j=0, k=3, l=6, m=0}");
  const Applied other{OpKind::reshape, {tensor({b, 32})}, attributes({{"shape", ExprList{s, 32}}})};
  EXPECT_EQ(other.broken(), "reshape_c2");
}

TEST(Rules, TransposeSliceConcat) {
  EXPECT_EQ((Applied{OpKind::transpose,
                     {tensor({256, 32, 64, 100})},
                     attributes({{"permutation", IntList{3, 1, 0, 2}}})}
                 .rule()),
            "([k, j, l, i])->([i, j, k, l]) {i=100, j=32, k=256, l=64}");
  EXPECT_EQ((Applied{OpKind::slice,
                     {tensor({32, 4, 8})},
                     attributes({{"start", ExprList{0, 1, 4}},
                                 {"limit", ExprList{32, 3, 8}},
                                 {"stride", IntList{1, 1, 2}}})}
                 .rule()),
            "([i, j, k])->([i, j, k]) {i=32, j=4, k=8} permutation={j, k}");
  EXPECT_EQ((Applied{OpKind::concat,
                     {tensor({4, 16, 256}), tensor({4, 32, 256})},
                     attributes({{"dim", int64_t{1}}})}
                 .rule()),
            "([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=48, k=256} permutation={j}");
}

TEST(Rules, OperandFactorsThatAreNotReducedMustBeWhole) {
  const Applied swap{OpKind::reshape, {tensor({3, 2})}, attributes({{"shape", ExprList{2, 3}}})};
  const auto rule =
      record(OpKind::reshape).rule(swap.call(), *record(OpKind::reshape).infer(swap.call()));
  ASSERT_TRUE(rule);
  EXPECT_TRUE(rule->must_replicate(0));   // i: rows of the operand
  EXPECT_FALSE(rule->must_replicate(1));  // j: rows of the result
}

std::string parsed(std::string_view text, std::vector<Type> operands, std::vector<Type> results) {
  const auto rule = parse_sharding_rule(text, operands, results);
  return rule ? rule->to_string() : rule.error().diagnostics.front().id;
}

TEST(RuleText, EinsumImpliesTheReduction) {
  EXPECT_EQ(
      parsed("([i,k],[k,j])->([i,j])", {tensor({8, 32}), tensor({32, 16})}, {tensor({8, 16})}),
      "([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}");
  EXPECT_EQ(parsed("([i,j])->([ij])", {tensor({2, 4})}, {tensor({8})}),
            "([i, j])->([ij]) {i=2, j=4}");
  EXPECT_EQ(parsed("([ij])->([i, j]) need_replication={j}", {tensor({8})}, {tensor({2, 4})}),
            "([ij])->([i, j]) {i=2, j=4} need_replication={j}");
}

TEST(RuleText, PrintedRulesReadBack) {
  const std::vector<Type> operands = {tensor({4, 8, 32}), tensor({4, 32, 16})};
  const std::vector<Type> results = {tensor({4, 8, 16})};
  const OpRecord& op = record(OpKind::matmul);
  const Attributes none;
  const auto rule =
      op.rule({.kind = OpKind::matmul, .operands = operands, .attributes = none}, results);
  ASSERT_TRUE(rule);
  const auto again = parse_sharding_rule(rule->to_string(), operands, results);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->reduction.size(), 1U);
  EXPECT_EQ(parsed(again->to_string(), operands, results), again->to_string());
}

TEST(RuleText, Errors) {
  const std::vector<Type> a = {tensor({8, 32})};
  for (const char* text :
       {"", "(", "([i,k]", "([i,k])", "([i,k])->", "([i,k])->([i,k]) {", "([i,k])->([i]) x",
        "([i,,k])->([i])", "([I])->([I])", "([i,k])->([i,k]) reduction={z}",
        "([i,k])->([i,k]) {i=99999999999999999999}"}) {
    EXPECT_EQ(parsed(text, a, a), "rule_c1") << text;
  }
  EXPECT_EQ(parsed("([i])->([i])", a, a), "rule_c2");
  EXPECT_EQ(parsed("([i,j],[i,j])->([i,j])", a, a), "rule_c2");
  EXPECT_EQ(parsed("([i,i])->([i,i])", a, a), "rule_c3");
  EXPECT_EQ(parsed("([ij,k])->([ij,k])", a, a), "rule_c3");
  EXPECT_EQ(parsed("([i,k])->([i,k],[i])", a, {tensor({8, 32}), tensor({8})}), "rule_c4");
}

}  // namespace
}  // namespace hostir
