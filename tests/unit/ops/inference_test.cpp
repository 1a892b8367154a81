// Result types with numeric and symbolic sizes, and the constraints that keep them sound.
#include <gtest/gtest.h>

#include "calls.h"
#include "hostir/ops/builder.h"

namespace hostir {
namespace {

using test::Applied;
using test::attributes;
using test::tensor;

const IndexExpr kB = IndexExpr::size("B");
const IndexExpr kS = IndexExpr::size("S");

TEST(Inference, MatrixProducts) {
  EXPECT_EQ((Applied{OpKind::matmul, {tensor({kB, 3, 4}), tensor({4, kS})}}.inferred()),
            "tensor<?Bx3x?Sxf32>");
  EXPECT_EQ((Applied{OpKind::linear, {tensor({kB, kS, 4}), tensor({0, 4})}}.inferred()),
            "tensor<?Bx?Sx0xf32>");
  EXPECT_EQ((Applied{OpKind::matmul, {tensor({4}), tensor({4, 4})}}.broken()), "matmul_c1");
  EXPECT_EQ((Applied{OpKind::matmul, {tensor({2, kB}), tensor({kS, 4})}}.broken()), "matmul_c2");
  EXPECT_EQ((Applied{OpKind::matmul, {tensor({kB, 2, 3}), tensor({kS, 3, 4})}}.broken()),
            "matmul_c3");
  EXPECT_EQ((Applied{OpKind::linear, {tensor({2, 3}), tensor({4, 3}), tensor({3})}}.broken()),
            "linear_c3");
}

TEST(Inference, ShapesOfSymbols) {
  const IndexExpr twice = IndexExpr::binary(IndexExpr::Kind::kAdd, kB, kB);
  EXPECT_EQ(
      (Applied{
          OpKind::concat, {tensor({kB, 3}), tensor({kB, 3})}, attributes({{"dim", int64_t{0}}})}
           .inferred()),
      to_string(tensor({twice.simplified(), 3})));
  EXPECT_EQ((Applied{OpKind::slice,
                     {tensor({kB, 7})},
                     attributes({{"start", ExprList{0, 1}},
                                 {"limit", ExprList{kB, 7}},
                                 {"stride", IntList{1, 4}}})}
                 .inferred()),
            "tensor<?Bx2xf32>");
  EXPECT_EQ(
      (Applied{OpKind::slice,
               {tensor({5})},
               attributes({{"start", ExprList{5}}, {"limit", ExprList{5}}, {"stride", IntList{3}}})}
           .inferred()),
      "tensor<0xf32>");
  EXPECT_EQ((Applied{OpKind::reduce_mean,
                     {tensor({kB, kS})},
                     attributes({{"dims", IntList{1}}, {"keep_dims", true}})}
                 .inferred()),
            "tensor<?Bx1xf32>");
}

TEST(Inference, WrittenTypes) {
  const Type written = tensor({2, 4}, DType::kI32);
  EXPECT_EQ((Applied{OpKind::iota, {}, attributes({{"dim", int64_t{1}}}), {written}}.inferred()),
            "tensor<2x4xi32>");
  EXPECT_EQ((Applied{OpKind::iota, {}, attributes({{"dim", int64_t{2}}}), {written}}.broken()),
            "iota_c2");
  EXPECT_EQ((Applied{OpKind::constant, {}, attributes({{"value", 1.0}}), {NoType{}}}.broken()),
            "constant_c2");
  EXPECT_EQ((Applied{OpKind::reshape, {tensor({8}, DType::kI32)}, {}, {written}}.inferred()),
            "tensor<2x4xi32>");
}

TEST(Partial, FollowsTheTables) {
  const auto use = [](const Applied& a, size_t operand, Reduction kind) {
    return partial_use(a.call(), operand, kind);
  };
  const Applied mm{OpKind::matmul, {tensor({2, 2}), tensor({2, 2})}};
  const Applied add{OpKind::add, {tensor({2}), tensor({2})}};
  const Applied relu{OpKind::relu, {tensor({2})}};
  const Applied plain{OpKind::linear, {tensor({2, 2}), tensor({2, 2})}};
  const Applied biased{OpKind::linear, {tensor({2, 2}), tensor({2, 2}), tensor({2})}};
  EXPECT_EQ(use(mm, 0, Reduction::kSum), PartialUse::kOthersWhole);
  EXPECT_EQ(use(mm, 1, Reduction::kMax), PartialUse::kReduceFirst);
  EXPECT_EQ(use(add, 1, Reduction::kSum), PartialUse::kAllAlike);
  EXPECT_EQ(use(relu, 0, Reduction::kSum), PartialUse::kReduceFirst);
  EXPECT_EQ(use(relu, 0, Reduction::kMax), PartialUse::kAnyMix);
  EXPECT_EQ(use(plain, 0, Reduction::kSum), PartialUse::kOthersWhole);
  EXPECT_EQ(use(biased, 0, Reduction::kSum), PartialUse::kReduceFirst);
  const Applied widen{OpKind::cast, {tensor({2}, DType::kBF16)}, attributes({{"to", DType::kF32}})};
  const Applied narrow{OpKind::cast, {tensor({2})}, attributes({{"to", DType::kBF16}})};
  EXPECT_EQ(use(widen, 0, Reduction::kSum), PartialUse::kOthersWhole);
  EXPECT_EQ(use(narrow, 0, Reduction::kSum), PartialUse::kReduceFirst);
  EXPECT_EQ(use(narrow, 0, Reduction::kMin), PartialUse::kAnyMix);
}

// A fusion with one instruction on parameters of these types.
struct OneOp {
  Function function;
  Instruction call;
  OneOp(OpKind kind, const std::vector<Type>& types, Attributes given) {
    function.body = function.add_region();
    call.kind = kind;
    call.attributes = std::move(given);
    for (size_t i = 0; i < types.size(); ++i) {
      Operand operand;
      operand.value = function.add_value("a" + std::to_string(i), types[i]);
      call.operands.push_back(operand);
    }
  }
  std::vector<std::string> expanded(ValueId& result) {
    ops::Builder builder(function, function.body,
                         [this](std::string_view stem) { return function.unique_name(stem); });
    builder.begin(call, "y");
    const auto values = record(call.kind).expand(builder);
    std::vector<std::string> mnemonics;
    if (builder.error()) return {builder.error()->diagnostics.front().id};
    result = values.front();
    for (const InstrId id : function.region(function.body).instructions) {
      const Instruction& instruction = function.instr(id);
      mnemonics.emplace_back(record(instruction.kind).mnemonic);
      const auto types = check_and_infer(Program(), function, instruction);
      EXPECT_TRUE(types) << types.error().message();
      if (types) {
        EXPECT_EQ(types->front(), function.value(instruction.results[0]).type);
      }
    }
    return mnemonics;
  }
};

TEST(Expansion, BiasAndDivisionHappenOnce) {
  using Mnemonics = std::vector<std::string>;
  ValueId y;
  OneOp linear(OpKind::linear, {tensor({2, 3}), tensor({4, 3}), tensor({4})}, {});
  EXPECT_EQ(linear.expanded(y), (Mnemonics{"linear", "broadcast_in_dim", "add"}));
  OneOp mean(OpKind::reduce_mean, {tensor({2, 3})}, attributes({{"dims", IntList{1}}}));
  EXPECT_EQ(mean.expanded(y), (Mnemonics{"reduce_sum", "constant", "div"}));
  OneOp half(OpKind::reduce_mean, {tensor({2, 3}, DType::kBF16)},
             attributes({{"dims", IntList{1}}}));
  EXPECT_EQ(half.expanded(y), (Mnemonics{"cast", "reduce_sum", "constant", "div", "cast"}));
  EXPECT_EQ(dtype_of(half.function.value(y).type), DType::kBF16);
  OneOp unknown(OpKind::reduce_mean, {tensor({2, kB})}, attributes({{"dims", IntList{1}}}));
  EXPECT_EQ(unknown.expanded(y), (Mnemonics{"reduce_sum", "constant", "div"}));
}

TEST(CheckAndInfer, ReportsEveryGenericError) {
  OneOp gelu(OpKind::gelu, {tensor({2})},
             attributes({{"approximate", Keyword{"cubic"}}, {"x", true}}));
  const auto types = check_and_infer(Program(), gelu.function, gelu.call);
  ASSERT_FALSE(types);
  ASSERT_EQ(types.error().diagnostics.size(), 2U);
  EXPECT_EQ(types.error().diagnostics[0].id, "op_c4");
  EXPECT_EQ(types.error().diagnostics[1].id, "op_c2");
  OneOp cast(OpKind::cast, {tensor({2}), tensor({2})}, {});
  const auto two = check_and_infer(Program(), cast.function, cast.call);
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().diagnostics[0].id, "op_c1");
  EXPECT_EQ(two.error().diagnostics[1].id, "op_c3");
}

TEST(Cost, MatrixProductCountsFlopsAndBytes) {
  const Applied mm{OpKind::matmul, {tensor({8, 4}, DType::kBF16), tensor({4, 2}, DType::kBF16)}};
  const std::vector<Extents> in = {{8, 4}, {4, 2}};
  const std::vector<Extents> out = {{8, 2}};
  const Cost cost = record(OpKind::matmul).cost(mm.call(), in, out);
  EXPECT_EQ(cost.flops, 2.0 * 8 * 2 * 4);
  EXPECT_EQ(cost.read_bytes, 2.0 * (32 + 8));
  EXPECT_EQ(cost.write_bytes, 2.0 * 16);
}

}  // namespace
}  // namespace hostir
