#include "hostir/ops/builder.h"

namespace hostir {

namespace {

ops::Values rsqrt_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  return {b.div(b.mul(b.scaled(dy[0], -0.5), b.result()), b.arg(0))};
}

}  // namespace

OpRecord op_rsqrt() {
  return {
      .mnemonic = "rsqrt",
      .shape = OpShape::kPointwise,
      .summary = "One over the square root of each element; inf at 0.",
      .doc = {.shapes = "Any; the result has the same shape.",
              .sharding =
                  "Every dimension passes through: operand and result have the same sharding. A "
                  "partial operand is reduced first.",
              .dtypes = "Floats; 16- and 8-bit ones are computed in f32 and rounded once.",
              .cost = "Reads x and writes y once (bytes); about 4 flops per element."},
      .operands = {{.name = "x", .doc = "the operand"}},
      .results = {{.name = "y", .doc = "1 / sqrt(x)"}},
      .constraints = {{"rsqrt_c1", ops::kFloat, ops::check_float}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<4>,
      .gradient = "dx = -dy * rsqrt(x) / (2 * x)",
      .vjp = rsqrt_vjp,
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = rsqrt %x
  return %y
})",
      .source = "StableHLO spec, rsqrt",
  };
}

}  // namespace hostir
