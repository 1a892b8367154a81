#include "hostir/ops/builder.h"

namespace hostir {

namespace {

ops::Values rem_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  // (a - rem) / b is the truncated quotient, which is the derivative of -rem with respect to b.
  const ValueId whole = b.div(b.sub(b.arg(0), b.result()), b.arg(1));
  return {dy[0], b.neg(b.mul(dy[0], whole))};
}

}  // namespace

OpRecord op_rem() {
  return {
      .mnemonic = "rem",
      .shape = OpShape::kPointwise,
      .summary = "The remainder of dividing two tensors, element by element.",
      .doc = {.shapes = "Any shape, the same for both operands and the result.",
              .sharding = "Every dimension passes through. A partial operand is reduced first.",
              .dtypes = "All but i1. The sign is that of a; a remainder by 0 is a for integers and "
                        "NaN for floats. 16- and 8-bit floats are computed in f32.",
              .cost = "Reads a and b and writes y once (bytes); 1 flop per element."},
      .operands = {{.name = "a", .doc = "the left operand"},
                   {.name = "b", .doc = "the right operand"}},
      .results = {{.name = "y", .doc = "a - b * (a / b rounded towards zero)"}},
      .constraints = {{"rem_c1", ops::kSameShape, ops::check_same_shape},
                      {"rem_c2", ops::kSameDType, ops::check_same_dtype},
                      {"rem_c3", ops::kNumeric, ops::check_numeric}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<1>,
      .gradient = "da = dy, db = -dy * trunc(a / b)",
      .vjp = rem_vjp,
      .example = R"(fusion @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = rem %a, %b
  return %y
})",
      .source = "StableHLO spec, remainder",
  };
}

}  // namespace hostir
