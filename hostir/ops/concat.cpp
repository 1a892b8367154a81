#include <fmt/core.h>

#include "hostir/ops/builder.h"

namespace hostir {

namespace {

size_t dim_of(const OpCall& call) {
  return static_cast<size_t>(call.attributes.get_or<int64_t>("dim", 0));
}

ops::Violated check_concat_dim(const OpCall& call) {
  if (call.operands.empty()) return Violation{"concat needs one operand or more"};
  const auto dim = call.attributes.get_or<int64_t>("dim", 0);
  return ops::check_dims({dim}, shape_of(call.operands[0]).size(), "concat");
}

ops::Violated check_shapes(const OpCall& call) {
  if (check_concat_dim(call)) return std::nullopt;  // concat_c1
  const Shape& first = shape_of(call.operands[0]);
  for (size_t i = 1; i < call.operands.size(); ++i) {
    Shape other = shape_of(call.operands[i]);
    if (other.size() == first.size()) other[dim_of(call)] = first[dim_of(call)];
    if (ops::same_shape(first, other)) continue;
    return Violation{
        fmt::format("concat along dimension {} of {} and {}; all other sizes must be equal",
                    dim_of(call), ops::text(first), ops::text(shape_of(call.operands[i]))),
        static_cast<int>(i)};
  }
  return std::nullopt;
}

Expected<std::vector<Type>> infer_concat(const OpCall& call) {
  Shape shape = shape_of(call.operands[0]);
  IndexExpr& total = shape[dim_of(call)];
  for (size_t i = 1; i < call.operands.size(); ++i) {
    total =
        IndexExpr::binary(IndexExpr::Kind::kAdd, total, shape_of(call.operands[i])[dim_of(call)]);
  }
  total = total.simplified();
  return ops::inferred(ops::tensor(dtype_of(call.operands[0]), std::move(shape)));
}

Expected<ShardingRule> concat_rule(const OpCall& call, std::span<const Type> results) {
  const Shape& to = shape_of(results[0]);
  ShardingRule r;
  r.factor_sizes = to;
  r.operands.assign(call.operands.size(), ops::one_to_one(0, to.size()));
  r.results = {ops::one_to_one(0, to.size())};
  if (call.operands.size() == 1) return r;
  const auto dim = static_cast<int>(dim_of(call));
  r.permutation = {dim};
  IndexExpr before = 0;  // number of elements in the parts before this one
  for (size_t i = 0; i < call.operands.size(); ++i) {
    r.shifts.push_back(
        {i, dim, dim, IndexExpr::binary(IndexExpr::Kind::kSub, 0, before).simplified()});
    before =
        IndexExpr::binary(IndexExpr::Kind::kAdd, before, shape_of(call.operands[i])[dim_of(call)]);
  }
  return r;
}

// The gradient of each part is the slice of dy at its place.
ops::Values concat_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const int64_t dim = b.attributes().get_or<int64_t>("dim", 0);
  ops::Values out;
  IndexExpr start = 0;
  for (size_t i = 0; i < b.call().operands.size(); ++i) {
    const IndexExpr size = b.shape(b.arg(i))[static_cast<size_t>(dim)];
    const IndexExpr limit = IndexExpr::binary(IndexExpr::Kind::kAdd, start, size).simplified();
    out.push_back(b.slice_dim(dy[0], dim, start, limit));
    start = limit;
  }
  return out;
}

}  // namespace

OpRecord op_concat() {
  return {
      .mnemonic = "concat",
      .shape = OpShape::kBroadcast,
      .summary = "Tensors put one after another along a dimension.",
      .doc = {.shapes =
                  "All operands have the same shape except in dimension dim, where sizes add up.",
              .sharding =
                  "Other dimensions pass through. If dim is cut, neighbours exchange what the "
                  "result's parts lack. If all operands are partial in the same way, so is the "
                  "result.",
              .dtypes = "Any, the same for all.",
              .cost = "Reads the operands and writes y once (bytes); no flops."},
      .operands = {{.name = "parts",
                    .doc = "the parts in order",
                    .arity = OperandSpec::Arity::kVariadic,
                    .partial = ops::kAllMovedAlike}},
      .attributes = {{.name = "dim",
                      .type = AttributeSpec::Type::kInt,
                      .doc = "the dimension along which they are joined",
                      .required = true}},
      .results = {{.name = "y", .doc = "the parts joined"}},
      .constraints = {{"concat_c1", "There is an operand, and dim is one of its dimensions.",
                       check_concat_dim},
                      {"concat_c2", "All other sizes are equal.", check_shapes},
                      {"concat_c3", ops::kSameDType, ops::check_same_dtype}},
      .infer = infer_concat,
      .rule = concat_rule,
      .cost = ops::pointwise_cost<0>,
      .gradient = "each part: the slice of dy at its place",
      .vjp = concat_vjp,
      .example = R"(fusion @f(%a: tensor<2x2xf32>, %b: tensor<2x3xf32>) -> (%y: tensor<2x5xf32>) {
  %y = concat %a, %b {dim = 1}
  return %y
})",
      .source = "StableHLO spec, concatenate; sharding rule of Shardy",
  };
}

}  // namespace hostir
