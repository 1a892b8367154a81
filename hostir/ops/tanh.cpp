#include "hostir/ops/builder.h"

namespace hostir {

namespace {

ops::Values tanh_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const ValueId y = b.widened(b.result());
  const ValueId slope = b.sub(b.full_like(y, 1), b.mul(y, y));
  return {b.cast(b.mul(b.widened(dy[0]), slope), b.dtype(dy[0]))};
}

}  // namespace

OpRecord op_tanh() {
  return {
      .mnemonic = "tanh",
      .shape = OpShape::kPointwise,
      .summary = "The hyperbolic tangent of each element.",
      .doc = {.shapes = "Any; the result has the same shape.",
              .sharding = "Every dimension passes through. Monotonic: a partial max or min stays "
                          "partial, a partial sum is reduced first.",
              .dtypes = "Floats; 16- and 8-bit ones are computed in f32 and rounded once.",
              .cost = "Reads x and writes y once (bytes); about 8 flops per element."},
      .operands = {{.name = "x", .doc = "the operand", .partial = ops::kRising}},
      .results = {{.name = "y", .doc = "tanh(x)"}},
      .constraints = {{"tanh_c1", ops::kFloat, ops::check_float}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<8>,
      .gradient = "dx = dy * (1 - tanh(x)^2)",
      .vjp = tanh_vjp,
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = tanh %x
  return %y
})",
      .source = "StableHLO spec, tanh",
  };
}

}  // namespace hostir
