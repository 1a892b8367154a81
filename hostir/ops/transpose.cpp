#include <fmt/core.h>

#include "hostir/ops/builder.h"

namespace hostir {

namespace {

ops::Violated check_permutation(const OpCall& call) {
  const IntList permutation = ops::dims_of(call, "permutation");
  const size_t rank = shape_of(call.operands[0]).size();
  if (permutation.size() != rank) {
    return Violation{
        fmt::format("permutation of transpose has {} entries, the tensor {} dimensions",
                    permutation.size(), rank)};
  }
  return ops::check_dims(permutation, rank, "permutation of transpose");
}

Expected<std::vector<Type>> infer_transpose(const OpCall& call) {
  const Shape& from = shape_of(call.operands[0]);
  Shape shape;
  for (const int64_t d : ops::dims_of(call, "permutation")) {
    shape.push_back(from[static_cast<size_t>(d)]);
  }
  return ops::inferred(ops::tensor(dtype_of(call.operands[0]), std::move(shape)));
}

Expected<ShardingRule> transpose_rule(const OpCall& call, std::span<const Type> results) {
  const Shape& to = shape_of(results[0]);
  const IntList permutation = ops::dims_of(call, "permutation");
  ShardingRule r;
  r.factor_sizes = to;
  r.results = {ops::one_to_one(0, to.size())};
  r.operands = {ShardingRule::TensorFactors(to.size())};
  for (size_t d = 0; d < to.size(); ++d) {
    r.operands[0][static_cast<size_t>(permutation[d])] = {static_cast<int>(d)};
  }
  return r;
}

ops::Values transpose_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const IntList permutation = b.attributes().get_or<IntList>("permutation", {});
  IntList inverse(permutation.size());
  for (size_t d = 0; d < permutation.size(); ++d) {
    inverse[static_cast<size_t>(permutation[d])] = static_cast<int64_t>(d);
  }
  return {b.transpose(dy[0], std::move(inverse))};
}

}  // namespace

OpRecord op_transpose() {
  return {
      .mnemonic = "transpose",
      .shape = OpShape::kBroadcast,
      .summary = "The dimensions of a tensor in another order.",
      .doc = {.shapes = "Any; result dimension d is dimension permutation[d] of x.",
              .sharding = "Every dimension passes through, to its new place. Partial values stay "
                          "partial.",
              .dtypes = "Any.",
              .cost = "Reads x and writes y once (bytes); no flops."},
      .operands = {{.name = "x", .doc = "the operand", .partial = ops::kMoved}},
      .attributes = {{.name = "permutation",
                      .type = AttributeSpec::Type::kInts,
                      .doc = "for each result dimension, the operand's dimension",
                      .required = true}},
      .results = {{.name = "y", .doc = "x with its dimensions reordered"}},
      .constraints = {{"transpose_c1", "permutation lists each dimension once.",
                       check_permutation}},
      .infer = infer_transpose,
      .rule = transpose_rule,
      .cost = ops::pointwise_cost<0>,
      .gradient = "dx = transpose dy by the inverse permutation",
      .vjp = transpose_vjp,
      .example = R"(fusion @f(%x: tensor<2x3xf32>) -> (%y: tensor<3x2xf32>) {
  %y = transpose %x {permutation = [1, 0]}
  return %y
})",
      .source = "StableHLO spec, transpose; sharding rule of Shardy",
  };
}

}  // namespace hostir
