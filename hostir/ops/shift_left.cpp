#include "hostir/ops/common.h"

namespace hostir {

OpRecord op_shift_left() {
  return {
      .mnemonic = "shift_left",
      .shape = OpShape::kPointwise,
      .summary = "Each integer of a shifted left by the element of b.",
      .doc = {.shapes = "Any shape, the same for both operands and the result.",
              .sharding = "Every dimension passes through. A partial operand is reduced first.",
              .dtypes = "Integers, not i1. Shifts below 0 or by the width and more give 0.",
              .cost = "Reads a and b and writes y once (bytes); 1 flop per element."},
      .operands = {{.name = "a", .doc = "the left operand"},
                   {.name = "b", .doc = "the right operand"}},
      .results = {{.name = "y", .doc = "a << b"}},
      .constraints = {{"shift_left_c1", ops::kSameShape, ops::check_same_shape},
                      {"shift_left_c2", ops::kSameDType, ops::check_same_dtype},
                      {"shift_left_c3", ops::kInteger, ops::check_integer}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<1>,
      .gradient = "none: integers have no derivative",
      .example = R"(fusion @f(%a: tensor<4xi32>, %b: tensor<4xi32>) -> (%y: tensor<4xi32>) {
  %y = shift_left %a, %b
  return %y
})",
      .source = "StableHLO spec, shift_left",
  };
}

}  // namespace hostir
