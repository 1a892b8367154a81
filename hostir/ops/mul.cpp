#include "hostir/ops/builder.h"

namespace hostir {

namespace {

ops::Values mul_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  return {b.mul(dy[0], b.arg(1)), b.mul(dy[0], b.arg(0))};
}

}  // namespace

OpRecord op_mul() {
  return {
      .mnemonic = "mul",
      .shape = OpShape::kPointwise,
      .summary = "The product of two tensors, element by element.",
      .doc = {.shapes = "Any shape, the same for both operands and the result.",
              .sharding = "Every dimension passes through. Linear in each operand: one partial sum "
                          "stays partial; of two, one is reduced first.",
              .dtypes = "All but i1. 16- and 8-bit floats are computed in f32 and rounded once. "
                        "Integers wrap.",
              .cost = "Reads a and b and writes y once (bytes); 1 flop per element."},
      .operands = {{.name = "a", .doc = "the left operand", .partial = ops::kLinear},
                   {.name = "b", .doc = "the right operand", .partial = ops::kLinear}},
      .results = {{.name = "y", .doc = "a * b"}},
      .constraints = {{"mul_c1", ops::kSameShape, ops::check_same_shape},
                      {"mul_c2", ops::kSameDType, ops::check_same_dtype},
                      {"mul_c3", ops::kNumeric, ops::check_numeric}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<1>,
      .gradient = "da = dy * b, db = dy * a",
      .vjp = mul_vjp,
      .example = R"(fusion @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = mul %a, %b
  return %y
})",
      .source = "StableHLO spec, multiply",
  };
}

}  // namespace hostir
