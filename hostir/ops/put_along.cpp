#include <fmt/core.h>

#include "hostir/ops/indexed.h"

namespace hostir {

namespace {

ops::Violated check_put_along_shapes(const OpCall& call) {
  if (ops::same_shape(shape_of(call.operands[0]), shape_of(call.operands[1]))) return std::nullopt;
  return Violation{
      fmt::format("put_along of updates {} at indices {}: both must have the same shape",
                  ops::text(shape_of(call.operands[0])), ops::text(shape_of(call.operands[1]))),
      1};
}

Shape put_along_shape(const OpCall& call) {
  Shape shape = shape_of(call.operands[0]);
  IndexExpr& size = shape[ops::indexed_dim(call)];
  const Shape* base = ops::put_has_base(call) ? &shape_of(call.operands[2]) : nullptr;
  size = base != nullptr && base->size() == shape.size()
             ? (*base)[ops::indexed_dim(call)]
             : call.attributes.get_or<IndexExpr>("size", IndexExpr(0));
  return shape;
}

ops::Violated check_put_along_base(const OpCall& call) {
  return ops::check_put_base(call, put_along_shape(call));
}

Expected<std::vector<Type>> infer_put_along(const OpCall& call) {
  return ops::inferred(ops::tensor(dtype_of(call.operands[0]), put_along_shape(call)));
}

// The factors, in order: the dimensions of the result, then the indices' dimension `dim`.
Expected<ShardingRule> put_along_rule(const OpCall& call, std::span<const Type> results) {
  const Shape& to = shape_of(results[0]);
  const size_t dim = ops::indexed_dim(call);
  const int along = static_cast<int>(to.size());
  ShardingRule r;
  r.factor_sizes = to;
  r.factor_sizes.push_back(shape_of(call.operands[1])[dim]);
  r.results = {ops::one_to_one(0, to.size())};
  auto indices = r.results[0];
  indices[dim] = {along};
  r.operands = {indices, indices};
  if (ops::put_has_base(call)) r.operands.push_back(r.results[0]);
  (ops::adds(call) ? r.reduction : r.replicated) = {along};
  return r;
}

ops::Values expand_put_along(ops::Builder& b) {
  return ops::expand_put_base(b, OpKind::put_along,
                              ops::dim_of(b.attributes(), "dim", b.rank(b.arg(0))));
}

ops::Values put_along_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const int64_t dim = ops::dim_of(b.attributes(), "dim", b.rank(b.arg(0)));
  const auto* mode = b.attributes().get<Keyword>("mode");
  const Attributes along = ops::attrs({{"dim", dim}});
  const ValueId taken = b.op(OpKind::take_along, {dy[0], b.arg(1)}, along, "updates");
  if (mode == nullptr || mode->word == "add") {
    return {taken, ValueId(), b.has_arg(2) ? dy[0] : ValueId()};
  }
  // For `set`, the gradient is 0 for an update that a later one overwrote, and for overwritten
  // elements of the base.
  const ValueId ids = b.arg(1);
  const ValueId order = b.shifted(b.iota(DType::kI32, b.shape(ids), dim), 1);
  const IndexExpr size = b.shape(b.result())[static_cast<size_t>(dim)];
  const ValueId winner =
      b.op(OpKind::put_along, {order, ids},
           ops::attrs({{"dim", dim}, {"size", size}, {"mode", Keyword{"set"}}}), "winner");
  const ValueId won = b.compare(b.op(OpKind::take_along, {winner, ids}, along), order, "eq");
  ops::Values out = {b.select(won, taken, b.zeros_like(taken)), ValueId()};
  if (!b.has_arg(2)) return out;
  const ValueId untouched = b.compare(winner, b.zeros_like(winner), "eq");
  out.push_back(b.select(untouched, dy[0], b.zeros_like(dy[0])));
  return out;
}

}  // namespace

OpRecord op_put_along() {
  return {
      .mnemonic = "put_along",
      .shape = OpShape::kIndexed,
      .summary = "Elements put along one dimension, each with a separate index.",
      .doc = {.shapes = "updates and indices have one shape; y has it too, except along dim, where "
                        "its size is `size` or the base's.",
              .sharding = "Other dimensions pass through, and so does dim of y: each rank takes "
                          "the updates for its part. With `add`, cut indices leave a partial sum, "
                          "and a base is added once, after the reduce. Linear in the updates.",
              .dtypes = "Updates and base of one dtype, indices of any integer. Floats add up in "
                        "f64 and are rounded once; an index outside puts nothing.",
              .cost = "Reads all operands and writes y once (bytes); 1 flop per update."},
      .operands = {{.name = "updates", .doc = "what is put"},
                   {.name = "indices", .doc = "positions along dim"},
                   {.name = "base",
                    .doc = "the tensor to put them into; zeros if absent",
                    .arity = OperandSpec::Arity::kOptional}},
      .attributes = ops::put_attributes(),
      .results = {{.name = "y", .doc = "y[.., indices[.., i, ..], ..] += or = updates[.., i, ..]"}},
      .constraints = {{"put_along_c1", ops::kDim, ops::check_indexed_dim},
                      {"put_along_c2", ops::kIndexDType, ops::check_put_indices},
                      {"put_along_c3", "Updates and indices have one shape.",
                       check_put_along_shapes},
                      {"put_along_c4",
                       "A base has the result's type; without a base, size is given.",
                       check_put_along_base}},
      .infer = infer_put_along,
      .rule = put_along_rule,
      .partial = ops::put_partial,
      .expand = expand_put_along,
      .needs_expand = ops::put_has_base,
      .cost = ops::pointwise_cost<1>,
      .gradient = "dupdates = take_along dy at the indices, dbase = dy",
      .vjp = put_along_vjp,
      .example =
          R"(fusion @f(%dy: tensor<4x1xf32>, %ids: tensor<4x1xi32>) -> (%y: tensor<4x10xf32>) {
  %y = put_along %dy, %ids {dim = 1, size = 10}
  return %y
})",
      .source = "torch.scatter and scatter_add, numpy.put_along_axis",
  };
}

}  // namespace hostir
