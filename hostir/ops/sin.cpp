#include "hostir/ops/builder.h"

namespace hostir {

namespace {

ops::Values sin_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  return {b.mul(dy[0], b.op(OpKind::cos, {b.arg(0)}))};
}

}  // namespace

OpRecord op_sin() {
  return {
      .mnemonic = "sin",
      .shape = OpShape::kPointwise,
      .summary = "The sine of each element, in radians.",
      .doc = {.shapes = "Any; the result has the same shape.",
              .sharding =
                  "Every dimension passes through: operand and result have the same sharding. A "
                  "partial operand is reduced first.",
              .dtypes = "Floats; 16- and 8-bit ones are computed in f32 and rounded once.",
              .cost = "Reads x and writes y once (bytes); about 8 flops per element."},
      .operands = {{.name = "x", .doc = "the operand"}},
      .results = {{.name = "y", .doc = "sin(x)"}},
      .constraints = {{"sin_c1", ops::kFloat, ops::check_float}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<8>,
      .gradient = "dx = dy * cos(x)",
      .vjp = sin_vjp,
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = sin %x
  return %y
})",
      .source = "StableHLO spec, sine",
  };
}

}  // namespace hostir
