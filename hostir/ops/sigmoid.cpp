#include "hostir/ops/builder.h"

namespace hostir {

namespace {

ops::Values sigmoid_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const ValueId s = b.widened(b.result());
  const ValueId slope = b.mul(s, b.sub(b.full_like(s, 1), s));
  return {b.cast(b.mul(b.widened(dy[0]), slope), b.dtype(dy[0]))};
}

}  // namespace

OpRecord op_sigmoid() {
  return {
      .mnemonic = "sigmoid",
      .shape = OpShape::kPointwise,
      .summary = "The logistic function of each element.",
      .doc = {.shapes = "Any; the result has the same shape.",
              .sharding = "Every dimension passes through. Monotonic: a partial max or min stays "
                          "partial, a partial sum is reduced first.",
              .dtypes = "Floats; 16- and 8-bit ones are computed in f32 and rounded once.",
              .cost = "Reads x and writes y once (bytes); about 8 flops per element."},
      .operands = {{.name = "x", .doc = "the operand", .partial = ops::kRising}},
      .results = {{.name = "y", .doc = "1 / (1 + exp(-x))"}},
      .constraints = {{"sigmoid_c1", ops::kFloat, ops::check_float}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<8>,
      .gradient = "dx = dy * s * (1 - s) with s = sigmoid(x)",
      .vjp = sigmoid_vjp,
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = sigmoid %x
  return %y
})",
      .source = "StableHLO spec, logistic",
  };
}

}  // namespace hostir
