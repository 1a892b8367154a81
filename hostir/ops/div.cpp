#include "hostir/ops/builder.h"

namespace hostir {

namespace {

ops::Values div_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const ValueId da = b.div(dy[0], b.arg(1));
  return {da, b.neg(b.mul(da, b.result()))};
}

}  // namespace

OpRecord op_div() {
  return {
      .mnemonic = "div",
      .shape = OpShape::kPointwise,
      .summary = "The quotient of two tensors, element by element.",
      .doc = {.shapes = "Any shape, the same for both operands and the result.",
              .sharding = "Every dimension passes through. Linear in the dividend: it may be a "
                          "partial sum; a partial divisor is reduced first.",
              .dtypes = "All but i1. 16- and 8-bit floats are computed in f32 and rounded once. "
                        "Integers round towards zero; dividing an integer by 0 gives all "
                        "bits set (-1), the lowest by -1 wraps.",
              .cost = "Reads a and b and writes y once (bytes); about 4 flops per element."},
      .operands = {{.name = "a", .doc = "the left operand", .partial = ops::kLinear},
                   {.name = "b", .doc = "the right operand"}},
      .results = {{.name = "y", .doc = "a / b"}},
      .constraints = {{"div_c1", ops::kSameShape, ops::check_same_shape},
                      {"div_c2", ops::kSameDType, ops::check_same_dtype},
                      {"div_c3", ops::kNumeric, ops::check_numeric}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<4>,
      .gradient = "da = dy / b, db = -dy * a / b^2",
      .vjp = div_vjp,
      .example = R"(fusion @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = div %a, %b
  return %y
})",
      .source = "StableHLO spec, divide",
  };
}

}  // namespace hostir
