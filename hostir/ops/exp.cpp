#include "hostir/ops/builder.h"

namespace hostir {

namespace {

ops::Values exp_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  return {b.mul(dy[0], b.result())};
}

}  // namespace

OpRecord op_exp() {
  return {
      .mnemonic = "exp",
      .shape = OpShape::kPointwise,
      .summary = "e to the power of each element.",
      .doc = {.shapes = "Any; the result has the same shape.",
              .sharding = "Every dimension passes through. Monotonic: a partial max or min stays "
                          "partial, a partial sum is reduced first.",
              .dtypes = "Floats; 16- and 8-bit ones are computed in f32 and rounded once.",
              .cost = "Reads x and writes y once (bytes); about 8 flops per element."},
      .operands = {{.name = "x", .doc = "the operand", .partial = ops::kRising}},
      .results = {{.name = "y", .doc = "exp(x)"}},
      .constraints = {{"exp_c1", ops::kFloat, ops::check_float}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<8>,
      .gradient = "dx = dy * exp(x)",
      .vjp = exp_vjp,
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = exp %x
  return %y
})",
      .source = "StableHLO spec, exponential",
  };
}

}  // namespace hostir
