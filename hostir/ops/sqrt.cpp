#include "hostir/ops/builder.h"

namespace hostir {

namespace {

ops::Values sqrt_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  return {b.div(b.scaled(dy[0], 0.5), b.result())};
}

}  // namespace

OpRecord op_sqrt() {
  return {
      .mnemonic = "sqrt",
      .shape = OpShape::kPointwise,
      .summary = "The square root of each element; NaN below 0.",
      .doc = {.shapes = "Any; the result has the same shape.",
              .sharding =
                  "Every dimension passes through: operand and result have the same sharding. A "
                  "partial operand is reduced first.",
              .dtypes = "Floats; 16- and 8-bit ones are computed in f32 and rounded once.",
              .cost = "Reads x and writes y once (bytes); about 2 flops per element."},
      .operands = {{.name = "x", .doc = "the operand"}},
      .results = {{.name = "y", .doc = "sqrt(x)"}},
      .constraints = {{"sqrt_c1", ops::kFloat, ops::check_float}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<2>,
      .gradient = "dx = dy / (2 * sqrt(x))",
      .vjp = sqrt_vjp,
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = sqrt %x
  return %y
})",
      .source = "StableHLO spec, sqrt",
  };
}

}  // namespace hostir
