#include "hostir/ops/builder.h"

namespace hostir {

namespace {

ops::Values abs_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  return {b.mul(dy[0], b.op(OpKind::sign, {b.arg(0)}))};
}

}  // namespace

OpRecord op_abs() {
  return {
      .mnemonic = "abs",
      .shape = OpShape::kPointwise,
      .summary = "The absolute value of each element.",
      .doc = {.shapes = "Any; the result has the same shape.",
              .sharding =
                  "Every dimension passes through: operand and result have the same sharding. A "
                  "partial operand is reduced first.",
              .dtypes = "Floats and signed integers; 16- and 8-bit floats are computed in f32 and "
                        "rounded once, integers wrap.",
              .cost = "Reads x and writes y once (bytes); 1 flop per element."},
      .operands = {{.name = "x", .doc = "the operand"}},
      .results = {{.name = "y", .doc = "|x|"}},
      .constraints = {{"abs_c1", ops::kSigned, ops::check_signed}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<1>,
      .gradient = "dx = dy * sign(x)",
      .vjp = abs_vjp,
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = abs %x
  return %y
})",
      .source = "StableHLO spec, abs",
  };
}

}  // namespace hostir
