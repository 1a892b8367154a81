#include "hostir/ops/builder.h"

namespace hostir {

namespace {

ops::Values neg_vjp(ops::Builder& b, std::span<const ValueId> dy) { return {b.neg(dy[0])}; }

}  // namespace

OpRecord op_neg() {
  return {
      .mnemonic = "neg",
      .shape = OpShape::kPointwise,
      .summary = "The negative of each element.",
      .doc = {.shapes = "Any; the result has the same shape.",
              .sharding = "Every dimension passes through. Linear: a partial sum stays partial.",
              .dtypes = "Floats and signed integers; 16- and 8-bit floats are computed in f32 and "
                        "rounded once, integers wrap.",
              .cost = "Reads x and writes y once (bytes); 1 flop per element."},
      .operands = {{.name = "x", .doc = "the operand", .partial = ops::kLinear}},
      .results = {{.name = "y", .doc = "-x"}},
      .constraints = {{"neg_c1", ops::kSigned, ops::check_signed}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<1>,
      .gradient = "dx = -dy",
      .vjp = neg_vjp,
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = neg %x
  return %y
})",
      .source = "StableHLO spec, negate",
  };
}

}  // namespace hostir
