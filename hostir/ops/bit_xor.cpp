#include "hostir/ops/common.h"

namespace hostir {

OpRecord op_bit_xor() {
  return {
      .mnemonic = "bit_xor",
      .shape = OpShape::kPointwise,
      .summary = "The bitwise exclusive or of two integers, element by element.",
      .doc = {.shapes = "Any shape, the same for both operands and the result.",
              .sharding = "Every dimension passes through. A partial operand is reduced first.",
              .dtypes = "Integers, not i1.",
              .cost = "Reads a and b and writes y once (bytes); 1 flop per element."},
      .operands = {{.name = "a", .doc = "the left operand"},
                   {.name = "b", .doc = "the right operand"}},
      .results = {{.name = "y", .doc = "a ^ b"}},
      .constraints = {{"bit_xor_c1", ops::kSameShape, ops::check_same_shape},
                      {"bit_xor_c2", ops::kSameDType, ops::check_same_dtype},
                      {"bit_xor_c3", ops::kInteger, ops::check_integer}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<1>,
      .gradient = "none: integers have no derivative",
      .example = R"(fusion @f(%a: tensor<4xi32>, %b: tensor<4xi32>) -> (%y: tensor<4xi32>) {
  %y = bit_xor %a, %b
  return %y
})",
      .source = "StableHLO spec, xor",
  };
}

}  // namespace hostir
