#include "hostir/ops/builder.h"

namespace hostir {

namespace {

ops::Values pow_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const ValueId a = b.arg(0);
  const ValueId p = b.arg(1);
  const ValueId da = b.mul(b.mul(dy[0], p), b.op(OpKind::pow, {a, b.shifted(p, -1)}));
  const ValueId positive = b.compare(a, b.zeros_like(a), "gt");
  const ValueId safe = b.select(positive, a, b.full_like(a, 1));
  return {da, b.mul(b.mul(dy[0], b.result()), b.log(safe))};
}

}  // namespace

OpRecord op_pow() {
  return {
      .mnemonic = "pow",
      .shape = OpShape::kPointwise,
      .summary = "The first tensor to the power of the second, element by element.",
      .doc = {.shapes = "Any shape, the same for both operands and the result.",
              .sharding = "Every dimension passes through. A partial operand is reduced first.",
              .dtypes = "Floats; 16- and 8-bit ones are computed in f32 and rounded once.",
              .cost = "Reads a and b and writes y once (bytes); about 16 flops per element."},
      .operands = {{.name = "a", .doc = "the left operand"},
                   {.name = "b", .doc = "the right operand"}},
      .results = {{.name = "y", .doc = "a to the power of b"}},
      .constraints = {{"pow_c1", ops::kSameShape, ops::check_same_shape},
                      {"pow_c2", ops::kSameDType, ops::check_same_dtype},
                      {"pow_c3", ops::kFloat, ops::check_float}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<16>,
      .gradient = "da = dy * b * a^(b-1), db = dy * log(a) * a^b",
      .vjp = pow_vjp,
      .example = R"(fusion @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = pow %a, %b
  return %y
})",
      .source = "StableHLO spec, power",
  };
}

}  // namespace hostir
