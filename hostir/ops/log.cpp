#include "hostir/ops/builder.h"

namespace hostir {

namespace {

ops::Values log_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  return {b.div(dy[0], b.arg(0))};
}

}  // namespace

OpRecord op_log() {
  return {
      .mnemonic = "log",
      .shape = OpShape::kPointwise,
      .summary = "The natural logarithm of each element; NaN below 0, -inf at 0.",
      .doc = {.shapes = "Any; the result has the same shape.",
              .sharding =
                  "Every dimension passes through: operand and result have the same sharding. A "
                  "partial operand is reduced first.",
              .dtypes = "Floats; 16- and 8-bit ones are computed in f32 and rounded once.",
              .cost = "Reads x and writes y once (bytes); about 8 flops per element."},
      .operands = {{.name = "x", .doc = "the operand"}},
      .results = {{.name = "y", .doc = "log(x)"}},
      .constraints = {{"log_c1", ops::kFloat, ops::check_float}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<8>,
      .gradient = "dx = dy / x",
      .vjp = log_vjp,
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = log %x
  return %y
})",
      .source = "StableHLO spec, log",
  };
}

}  // namespace hostir
