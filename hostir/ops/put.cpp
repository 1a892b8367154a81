#include <fmt/core.h>

#include "hostir/ops/indexed.h"

namespace hostir {

namespace {

size_t result_rank(const OpCall& call) {
  return shape_of(call.operands[0]).size() + 1 - shape_of(call.operands[1]).size();
}

ops::Violated check_put_dim(const OpCall& call) {
  const size_t updates = shape_of(call.operands[0]).size();
  const size_t indices = shape_of(call.operands[1]).size();
  const int64_t dim = call.attributes.get_or<int64_t>("dim", 0);
  if (updates >= indices && dim >= 0 && dim < static_cast<int64_t>(result_rank(call))) {
    return std::nullopt;
  }
  return Violation{
      fmt::format("put along dimension {}: the updates have {} dimensions, the indices {}", dim,
                  updates, indices)};
}

ops::Violated check_put_shapes(const OpCall& call) {
  if (check_put_dim(call)) return std::nullopt;  // put_c1
  const Shape& updates = shape_of(call.operands[0]);
  const Shape& indices = shape_of(call.operands[1]);
  const auto dim = static_cast<size_t>(call.attributes.get_or<int64_t>("dim", 0));
  for (size_t d = 0; d < indices.size(); ++d) {
    if (ops::same_size(updates[dim + d], indices[d])) continue;
    return Violation{fmt::format("put of updates {} at indices {}: dimension {} differs",
                                 ops::text(updates), ops::text(indices), dim + d),
                     1};
  }
  return std::nullopt;
}

// The shape of the updates with the indices' dimensions replaced by one of unknown size.
Shape put_shape(const OpCall& call) {
  Shape shape = shape_of(call.operands[0]);
  const auto dim = call.attributes.get_or<int64_t>("dim", 0);
  const auto count = static_cast<std::ptrdiff_t>(shape_of(call.operands[1]).size());
  const auto at = shape.erase(shape.begin() + dim, shape.begin() + dim + count);
  IndexExpr size = call.attributes.get_or<IndexExpr>("size", IndexExpr(0));
  if (ops::put_has_base(call) && static_cast<size_t>(dim) < shape_of(call.operands[2]).size()) {
    size = shape_of(call.operands[2])[static_cast<size_t>(dim)];
  }
  shape.insert(at, std::move(size));
  return shape;
}

ops::Violated check_put_base(const OpCall& call) {
  if (check_put_dim(call)) return std::nullopt;  // put_c1
  return ops::check_put_base(call, put_shape(call));
}

Expected<std::vector<Type>> infer_put(const OpCall& call) {
  return ops::inferred(ops::tensor(dtype_of(call.operands[0]), put_shape(call)));
}

// The factors, in order: the dimensions of the result, then those of the indices.
Expected<ShardingRule> put_rule(const OpCall& call, std::span<const Type> results) {
  const Shape& to = shape_of(results[0]);
  const Shape& indices = shape_of(call.operands[1]);
  const auto dim = call.attributes.get_or<int64_t>("dim", 0);
  ShardingRule r;
  r.factor_sizes = to;
  r.factor_sizes.insert(r.factor_sizes.end(), indices.begin(), indices.end());
  r.results = {ops::one_to_one(0, to.size())};
  const auto positions = ops::one_to_one(to.size(), indices.size());
  auto updates = r.results[0];
  updates.insert(updates.erase(updates.begin() + dim), positions.begin(), positions.end());
  r.operands = {std::move(updates), positions};
  if (ops::put_has_base(call)) r.operands.push_back(r.results[0]);
  auto& rest = ops::adds(call) ? r.reduction : r.replicated;
  for (size_t d = 0; d < indices.size(); ++d) rest.push_back(static_cast<int>(to.size() + d));
  return r;
}

ops::Values expand_put(ops::Builder& b) {
  return ops::expand_put_base(b, OpKind::put, b.attributes().get_or<int64_t>("dim", 0));
}

ops::Values put_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const int64_t dim = b.attributes().get_or<int64_t>("dim", 0);
  const auto* mode = b.attributes().get<Keyword>("mode");
  const ValueId taken =
      b.op(OpKind::take, {dy[0], b.arg(1)}, ops::attrs({{"dim", dim}}), "updates");
  if (mode == nullptr || mode->word == "add") {
    return {taken, ValueId(), b.has_arg(2) ? dy[0] : ValueId()};
  }
  // For `set`, the gradient is 0 for an update that a later one overwrote, and for overwritten
  // elements of the base.
  const IndexExpr size = b.shape(b.result())[static_cast<size_t>(dim)];
  const ValueId ids = b.arg(1);
  const ValueId order =
      b.reshape(b.iota(DType::kI32, {ops::product(b.shape(ids))}, 0), b.shape(ids));
  const ValueId winner =
      b.op(OpKind::put, {b.shifted(order, 1), ids},
           ops::attrs({{"dim", int64_t{0}}, {"size", size}, {"mode", Keyword{"set"}}}), "winner");
  const ValueId won =
      b.compare(b.op(OpKind::take, {winner, ids}, ops::attrs({{"dim", int64_t{0}}})),
                b.shifted(order, 1), "eq");
  if (b.error()) return {ValueId(), ValueId(), ValueId()};
  IntList at;
  for (size_t d = 0; d < b.rank(ids); ++d) at.push_back(dim + static_cast<int64_t>(d));
  const ValueId here = b.broadcast(won, at, b.shape(taken));
  ops::Values out = {b.select(here, taken, b.zeros_like(taken)), ValueId()};
  if (!b.has_arg(2)) return out;
  const ValueId untouched =
      b.broadcast(b.compare(winner, b.zeros_like(winner), "eq"), {dim}, b.shape(dy[0]));
  out.push_back(b.select(untouched, dy[0], b.zeros_like(dy[0])));
  return out;
}

}  // namespace

OpRecord op_put() {
  return {
      .mnemonic = "put",
      .shape = OpShape::kIndexed,
      .summary = "Slices put along one dimension at given indices, into zeros or into a base.",
      .doc = {.shapes = "updates [a.., i.., b..] and indices [i..] give [a.., V, b..], V from "
                        "`size` or from the base.",
              .sharding = "a, b and V pass through: each rank takes the updates for its rows. With "
                          "`add`, cut indices leave a partial sum, and a base is added once, after "
                          "the reduce. Linear in the updates.",
              .dtypes = "Updates and base of one dtype, indices of any integer. Floats add up in "
                        "f64 and are rounded once; an index outside 0..V-1 puts nothing.",
              .cost = "Reads all operands and writes y once (bytes); 1 flop per update."},
      .operands = {{.name = "updates", .doc = "the slices to put, [a.., i.., b..]"},
                   {.name = "indices", .doc = "positions along dim, [i..]"},
                   {.name = "base",
                    .doc = "the tensor to put them into; zeros if absent",
                    .arity = OperandSpec::Arity::kOptional}},
      .attributes = ops::put_attributes(),
      .results = {{.name = "y", .doc = "y[a, indices[i], b] += or = updates[a, i, b]"}},
      .constraints = {{"put_c1", "The updates have the indices' dimensions at dim.", check_put_dim},
                      {"put_c2", ops::kIndexDType, ops::check_put_indices},
                      {"put_c3", "Updates and indices have the same sizes in those dimensions.",
                       check_put_shapes},
                      {"put_c4", "A base has the result's type; without a base, size is given.",
                       check_put_base}},
      .infer = infer_put,
      .rule = put_rule,
      .partial = ops::put_partial,
      .expand = expand_put,
      .needs_expand = ops::put_has_base,
      .cost = ops::pointwise_cost<1>,
      .gradient = "dupdates = take dy at the indices, dbase = dy",
      .vjp = put_vjp,
      .example =
          R"(fusion @f(%dy: tensor<6x8xf32>, %ids: tensor<6xi32>) -> (%y: tensor<50x8xf32>) {
  %y = put %dy, %ids {dim = 0, size = 50}
  return %y
})",
      .source = "torch.Tensor.index_add, numpy.put; StableHLO spec, scatter",
  };
}

}  // namespace hostir
