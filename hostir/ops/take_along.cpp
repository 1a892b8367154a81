#include "hostir/ops/indexed.h"

namespace hostir {

namespace {

ops::Violated check_take_along_indices(const OpCall& call) {
  return ops::check_index_dtype(call, 1);
}
ops::Violated check_take_along_shapes(const OpCall& call) {
  return ops::check_along(call, shape_of(call.operands[0]), 1);
}

Expected<std::vector<Type>> infer_take_along(const OpCall& call) {
  return ops::inferred(ops::tensor(dtype_of(call.operands[0]), shape_of(call.operands[1])));
}

// The factors, in order: the dimensions of x, then the indices' dimension `dim`.
Expected<ShardingRule> take_along_rule(const OpCall& call, std::span<const Type>) {
  const Shape& x = shape_of(call.operands[0]);
  const size_t dim = ops::indexed_dim(call);
  const int along = static_cast<int>(x.size());
  ShardingRule r;
  r.factor_sizes = x;
  r.factor_sizes.push_back(shape_of(call.operands[1])[dim]);
  auto indices = ops::one_to_one(0, x.size());
  indices[dim] = {along};
  r.operands = {ops::one_to_one(0, x.size()), indices};
  r.results = {indices};
  const bool sums = dtype_of(call.operands[0]) != DType::kI1;
  (sums ? r.reduction : r.replicated) = {static_cast<int>(dim)};
  return r;
}

ops::Values take_along_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const int64_t dim = ops::dim_of(b.attributes(), "dim", b.rank(b.arg(0)));
  const IndexExpr size = b.shape(b.arg(0))[static_cast<size_t>(dim)];
  return {b.op(OpKind::put_along, {dy[0], b.arg(1)}, ops::attrs({{"dim", dim}, {"size", size}})),
          ValueId()};
}

}  // namespace

OpRecord op_take_along() {
  return {
      .mnemonic = "take_along",
      .shape = OpShape::kIndexed,
      .summary = "Elements chosen along one dimension, with a separate index for each place.",
      .doc = {.shapes =
                  "x and indices have equal sizes except along dim; y has the indices' shape.",
              .sharding = "Other dimensions pass through, and so does dim of the indices. If dim "
                          "of x is cut, each rank looks up the elements that it holds, which "
                          "leaves a partial sum. Linear in x.",
              .dtypes = "x of any dtype, indices of any integer. An index outside gives 0.",
              .cost = "Reads the indices and the chosen elements and writes y once (bytes)."},
      .operands = {{.name = "x", .doc = "the tensor to look up", .partial = ops::kLinear},
                   {.name = "indices", .doc = "positions along dim"}},
      .attributes = {ops::dim_attribute("the dimension that is indexed")},
      .results = {{.name = "y", .doc = "y[.., i, ..] = x[.., indices[.., i, ..], ..]"}},
      .constraints = {{"take_along_c1", ops::kDim, ops::check_indexed_dim},
                      {"take_along_c2", ops::kIndexDType, check_take_along_indices},
                      {"take_along_c3", "x and the indices have equal sizes except along dim.",
                       check_take_along_shapes}},
      .infer = infer_take_along,
      .rule = take_along_rule,
      .cost = ops::pointwise_cost<0>,
      .gradient = "dx = put_along dy at the same indices, adding up",
      .vjp = take_along_vjp,
      .example =
          R"(fusion @f(%x: tensor<4x10xf32>, %ids: tensor<4x1xi32>) -> (%y: tensor<4x1xf32>) {
  %y = take_along %x, %ids
  return %y
})",
      .source = "torch.gather, numpy.take_along_axis",
  };
}

}  // namespace hostir
