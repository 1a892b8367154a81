#include "hostir/ops/indexed.h"

namespace hostir {

namespace {

ops::Violated check_take_indices(const OpCall& call) { return ops::check_index_dtype(call, 1); }

Expected<std::vector<Type>> infer_take(const OpCall& call) {
  Shape shape = shape_of(call.operands[0]);
  const Shape& indices = shape_of(call.operands[1]);
  const auto at = shape.begin() + static_cast<std::ptrdiff_t>(ops::indexed_dim(call));
  shape.insert(shape.erase(at), indices.begin(), indices.end());
  return ops::inferred(ops::tensor(dtype_of(call.operands[0]), std::move(shape)));
}

// The factors, in order: the dimensions of x, then those of the indices.
Expected<ShardingRule> take_rule(const OpCall& call, std::span<const Type>) {
  const Shape& x = shape_of(call.operands[0]);
  const Shape& indices = shape_of(call.operands[1]);
  const size_t dim = ops::indexed_dim(call);
  ShardingRule r;
  r.factor_sizes = x;
  r.factor_sizes.insert(r.factor_sizes.end(), indices.begin(), indices.end());
  r.operands = {ops::one_to_one(0, x.size()), ops::one_to_one(x.size(), indices.size())};
  auto result = r.operands[0];
  const auto at = result.begin() + static_cast<std::ptrdiff_t>(dim);
  result.insert(result.erase(at), r.operands[1].begin(), r.operands[1].end());
  r.results = {std::move(result)};
  const bool sums = dtype_of(call.operands[0]) != DType::kI1;
  (sums ? r.reduction : r.replicated) = {static_cast<int>(dim)};
  return r;
}

// dx has the rows of dy at their indices; rows with the same index are added.
ops::Values take_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const int64_t dim = ops::dim_of(b.attributes(), "dim", b.rank(b.arg(0)));
  const IndexExpr size = b.shape(b.arg(0))[static_cast<size_t>(dim)];
  return {b.op(OpKind::put, {dy[0], b.arg(1)}, ops::attrs({{"dim", dim}, {"size", size}})),
          ValueId()};
}

}  // namespace

OpRecord op_take() {
  return {
      .mnemonic = "take",
      .shape = OpShape::kIndexed,
      .summary = "Slices of x along one dimension, chosen by indices (an embedding table).",
      .doc = {.shapes = "x [a.., V, b..] and indices [i..] give [a.., i.., b..].",
              .sharding = "a, b and i pass through. If V is cut, each rank looks up the rows that "
                          "it holds, which leaves a partial sum. Linear in x.",
              .dtypes = "x of any dtype, indices of any integer. An index outside 0..V-1 gives 0.",
              .cost = "Reads the indices and the chosen elements and writes y once (bytes)."},
      .operands = {{.name = "x", .doc = "the table", .partial = ops::kLinear},
                   {.name = "indices", .doc = "positions along dim"}},
      .attributes = {ops::dim_attribute("the dimension of x that is indexed", true)},
      .results = {{.name = "y", .doc = "y[a, i, b] = x[a, indices[i], b]"}},
      .constraints = {{"take_c1", ops::kDim, ops::check_indexed_dim},
                      {"take_c2", ops::kIndexDType, check_take_indices}},
      .infer = infer_take,
      .rule = take_rule,
      .cost = ops::pointwise_cost<0>,
      .gradient = "dx = put dy at the same indices, adding up",
      .vjp = take_vjp,
      .example =
          R"(fusion @f(%table: tensor<50x8xf32>, %ids: tensor<2x3xi32>) -> (%y: tensor<2x3x8xf32>) {
  %y = take %table, %ids {dim = 0}
  return %y
})",
      .source = "numpy.take, torch.nn.functional.embedding; masked lookup of Megatron-LM",
  };
}

}  // namespace hostir
