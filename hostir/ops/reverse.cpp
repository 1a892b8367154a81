#include "hostir/ops/indexed.h"

namespace hostir {

namespace {

ops::Violated check_reversed(const OpCall& call) {
  return ops::check_dims(ops::dims_of(call, "dims"), shape_of(call.operands[0]).size(), "reverse");
}

Expected<ShardingRule> reverse_rule(const OpCall& call, std::span<const Type>) {
  const Shape& from = shape_of(call.operands[0]);
  ShardingRule r;
  r.factor_sizes = from;
  r.operands = {ops::one_to_one(0, from.size())};
  r.results = r.operands;
  for (const int64_t d : ops::dims_of(call, "dims")) {
    const auto f = static_cast<int>(d);
    const IndexExpr& size = from[static_cast<size_t>(d)];
    r.permutation.push_back(f);
    r.shifts.push_back(
        {0, f, f, IndexExpr::binary(IndexExpr::Kind::kSub, size, 1).simplified(), true});
  }
  return r;
}

ops::Values reverse_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  return {b.op(OpKind::reverse, {dy[0]}, b.attributes())};
}

}  // namespace

OpRecord op_reverse() {
  return {
      .mnemonic = "reverse",
      .shape = OpShape::kIndexed,
      .summary = "The elements in the opposite order along some dimensions.",
      .doc = {.shapes = "Any; the result has the same shape.",
              .sharding = "Other dimensions pass through. If a reversed dimension is cut, its "
                          "parts change places. Partial values stay partial.",
              .dtypes = "Any.",
              .cost = "Reads x and writes y once (bytes); no flops."},
      .operands = {{.name = "x", .doc = "the operand", .partial = ops::kMoved}},
      .attributes = {{.name = "dims",
                      .type = AttributeSpec::Type::kInts,
                      .doc = "the dimensions to reverse",
                      .required = true}},
      .results = {{.name = "y", .doc = "y[.., i, ..] = x[.., n - 1 - i, ..]"}},
      .constraints = {{"reverse_c1", "dims lists dimensions of the operand, each at most once.",
                       check_reversed}},
      .infer = ops::infer_like_first,
      .rule = reverse_rule,
      .cost = ops::pointwise_cost<0>,
      .gradient = "dx = reverse dy",
      .vjp = reverse_vjp,
      .example = R"(fusion @f(%x: tensor<2x3xf32>) -> (%y: tensor<2x3xf32>) {
  %y = reverse %x {dims = [1]}
  return %y
})",
      .source = "StableHLO spec, reverse",
  };
}

}  // namespace hostir
