#include "hostir/ops/builder.h"

namespace hostir {

namespace {

ops::Values relu_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const ValueId zero = b.zeros_like(dy[0]);
  return {b.select(b.compare(b.arg(0), zero, "gt"), dy[0], zero)};
}

}  // namespace

OpRecord op_relu() {
  return {
      .mnemonic = "relu",
      .shape = OpShape::kPointwise,
      .summary = "The larger of each element and 0.",
      .doc = {.shapes = "Any; the result has the same shape.",
              .sharding = "Every dimension passes through. Monotonic: a partial max or min stays "
                          "partial, a partial sum is reduced first.",
              .dtypes = "Floats and signed integers; 16- and 8-bit floats are computed in f32 and "
                        "rounded once, integers wrap.",
              .cost = "Reads x and writes y once (bytes); 1 flop per element."},
      .operands = {{.name = "x", .doc = "the operand", .partial = ops::kRising}},
      .results = {{.name = "y", .doc = "max(x, 0); NaN stays NaN"}},
      .constraints = {{"relu_c1", ops::kSigned, ops::check_signed}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<1>,
      .gradient = "dx = dy where x > 0, else 0",
      .vjp = relu_vjp,
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = relu %x
  return %y
})",
      .source = "torch.nn.functional.relu",
  };
}

}  // namespace hostir
