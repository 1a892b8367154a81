#include "hostir/ops/indexed.h"

namespace hostir {

namespace {

IndexExpr shift_of(const OpCall& call) {
  return call.attributes.get_or<IndexExpr>("shift", IndexExpr(0));
}

// Element i of the result is element i - shift of x, counted around.
Expected<ShardingRule> roll_rule(const OpCall& call, std::span<const Type> results) {
  HOSTIR_ASSIGN_OR_RETURN(ShardingRule r, ops::pointwise_rule(call, results));
  const auto f = static_cast<int>(ops::indexed_dim(call));
  r.permutation = {f};
  r.shifts = {{.operand = 0,
               .from = f,
               .to = f,
               .by = IndexExpr::binary(IndexExpr::Kind::kSub, 0, shift_of(call)).simplified(),
               .wraps = true}};
  return r;
}

ops::Values roll_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  Attributes attributes = b.attributes();
  const IndexExpr shift = attributes.get_or<IndexExpr>("shift", IndexExpr(0));
  attributes.set("shift", IndexExpr::binary(IndexExpr::Kind::kSub, 0, shift).simplified());
  return {b.op(OpKind::roll, {dy[0]}, attributes)};
}

}  // namespace

OpRecord op_roll() {
  return {
      .mnemonic = "roll",
      .shape = OpShape::kIndexed,
      .summary =
          "Elements moved along a dimension; those that leave at one end return at the other.",
      .doc = {.shapes = "Any shape of rank 1 or more; the result has the same.",
              .sharding = "Other dimensions pass through. If dim is cut into equal parts, only "
                          "what comes from other parts moves, by one permute, or by two if that "
                          "reaches over two parts; once for several rolls and slices of one "
                          "value. If parts differ in size, it is two slices, joined, or dim is "
                          "gathered. Partial values stay partial.",
              .dtypes = "Any.",
              .cost = "Reads x and writes y once (bytes); no flops."},
      .operands = {{.name = "x", .doc = "the operand", .partial = ops::kMoved}},
      .attributes = {{.name = "shift",
                      .type = AttributeSpec::Type::kExpr,
                      .doc = "by how many places, towards higher indices; may be negative",
                      .required = true},
                     ops::dim_attribute("the dimension along which elements move")},
      .results = {{.name = "y", .doc = "y[.., i, ..] = x[.., (i - shift) mod n, ..]"}},
      .constraints = {{"roll_c1", ops::kDim, ops::check_indexed_dim}},
      .infer = ops::infer_like_first,
      .rule = roll_rule,
      .cost = ops::pointwise_cost<0>,
      .gradient = "dx = roll dy by -shift",
      .vjp = roll_vjp,
      .example = R"(fusion @f(%x: tensor<2x3xf32>) -> (%y: tensor<2x3xf32>) {
  %y = roll %x {shift = 1}
  return %y
})",
      .source = "torch.roll, numpy.roll",
  };
}

}  // namespace hostir
