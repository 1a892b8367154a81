#include <fmt/core.h>

#include "hostir/ops/builder.h"

namespace hostir {

namespace {

ops::Violated check_rate(const OpCall& call) {
  const double rate = call.attributes.get_or<double>("rate", 0.5);
  if (rate >= 0 && rate < 1) return std::nullopt;
  return Violation{fmt::format("dropout rate {} is not in [0, 1)", rate)};
}

ops::Values dropout_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  return {b.op(OpKind::dropout, {dy[0]}, b.attributes())};
}

}  // namespace

OpRecord op_dropout() {
  return {
      .mnemonic = "dropout",
      .shape = OpShape::kPointwise,
      .summary = "Each element either dropped (0) or scaled by 1/(1 - rate), at random.",
      .doc = {.shapes = "Any; the result has the same shape.",
              .sharding = "Every dimension passes through: the random number depends only on the "
                          "global index, so the mask is the same for every sharding. Linear: a "
                          "partial sum stays partial.",
              .dtypes = "Floats; 16- and 8-bit ones are computed in f32 and rounded once.",
              .cost =
                  "Reads x and writes y once (bytes); about 20 flops per element for the random "
                  "number."},
      .operands = {{.name = "x", .doc = "the operand", .partial = ops::kLinear}},
      .attributes = {{.name = "rate",
                      .type = AttributeSpec::Type::kFloat,
                      .doc = "the probability of dropping, in [0, 1)",
                      .required = true},
                     {.name = "seed",
                      .type = AttributeSpec::Type::kInt,
                      .doc = "the generator's key",
                      .fallback = Attribute(int64_t{0})},
                     {.name = "offset",
                      .type = AttributeSpec::Type::kInt,
                      .doc = "added to the global linear index to make the counter",
                      .fallback = Attribute(int64_t{0})}},
      .results = {{.name = "y",
                   .doc =
                       "x / (1 - rate) where random_unit(seed, index + offset) >= rate, else 0"}},
      .constraints = {{"dropout_c1", ops::kFloat, ops::check_float},
                      {"dropout_c2", "The rate is in [0, 1).", check_rate}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<20>,
      .gradient = "dx = dropout dy with the same rate, seed and offset",
      .vjp = dropout_vjp,
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = dropout %x {rate = 0.5, seed = 7}
  return %y
})",
      .source = "torch.nn.functional.dropout; Philox4x32-10 of J. Salmon et al., SC11",
  };
}

}  // namespace hostir
