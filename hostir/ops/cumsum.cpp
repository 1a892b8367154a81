#include "hostir/ops/indexed.h"

namespace hostir {

namespace {

// The sum runs along the whole dimension, so that dimension must not be cut.
Expected<ShardingRule> cumsum_rule(const OpCall& call, std::span<const Type> results) {
  HOSTIR_ASSIGN_OR_RETURN(ShardingRule r, ops::pointwise_rule(call, results));
  r.replicated = {static_cast<int>(ops::indexed_dim(call))};
  return r;
}

ops::Values cumsum_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  Attributes attributes = b.attributes();
  attributes.set("reverse", !attributes.get_or<bool>("reverse", false));
  return {b.op(OpKind::cumsum, {dy[0]}, std::move(attributes))};
}

}  // namespace

OpRecord op_cumsum() {
  return {
      .mnemonic = "cumsum",
      .shape = OpShape::kIndexed,
      .summary = "Running sums along one dimension.",
      .doc = {.shapes = "Any shape of rank 1 or more; the result has the same.",
              .sharding = "Other dimensions pass through; dim is gathered first. Linear: a partial "
                          "sum stays partial.",
              .dtypes = "All but i1. Floats add up in f64 and are rounded once; integers wrap.",
              .cost = "Reads x and writes y once (bytes); 1 flop per element."},
      .operands = {{.name = "x", .doc = "the operand", .partial = ops::kLinear}},
      .attributes = {ops::dim_attribute("the dimension along which to sum"),
                     {.name = "reverse",
                      .type = AttributeSpec::Type::kBool,
                      .doc = "from the last element to the first",
                      .fallback = Attribute(false)}},
      .results = {{.name = "y", .doc = "y[i] = x[0] + .. + x[i]"}},
      .constraints = {{"cumsum_c1", ops::kDim, ops::check_indexed_dim},
                      {"cumsum_c2", ops::kNumeric, ops::check_numeric}},
      .infer = ops::infer_like_first,
      .rule = cumsum_rule,
      .cost = ops::pointwise_cost<1>,
      .gradient = "dx = cumsum of dy from the other end",
      .vjp = cumsum_vjp,
      .example = R"(fusion @f(%x: tensor<2x3xf32>) -> (%y: tensor<2x3xf32>) {
  %y = cumsum %x
  return %y
})",
      .source = "torch.cumsum, jax.lax.cumsum",
  };
}

}  // namespace hostir
