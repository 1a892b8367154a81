#include "hostir/ops/common.h"

namespace hostir {

OpRecord op_shift_right() {
  return {
      .mnemonic = "shift_right",
      .shape = OpShape::kPointwise,
      .summary =
          "Each integer of a shifted right by the element of b; signed types repeat the sign.",
      .doc = {.shapes = "Any shape, the same for both operands and the result.",
              .sharding = "Every dimension passes through. A partial operand is reduced first.",
              .dtypes = "Integers, not i1. Shifts below 0 or by the width and more give 0, or -1 "
                        "for negative numbers.",
              .cost = "Reads a and b and writes y once (bytes); 1 flop per element."},
      .operands = {{.name = "a", .doc = "the left operand"},
                   {.name = "b", .doc = "the right operand"}},
      .results = {{.name = "y", .doc = "a >> b"}},
      .constraints = {{"shift_right_c1", ops::kSameShape, ops::check_same_shape},
                      {"shift_right_c2", ops::kSameDType, ops::check_same_dtype},
                      {"shift_right_c3", ops::kInteger, ops::check_integer}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<1>,
      .gradient = "none: integers have no derivative",
      .example = R"(fusion @f(%a: tensor<4xi32>, %b: tensor<4xi32>) -> (%y: tensor<4xi32>) {
  %y = shift_right %a, %b
  return %y
})",
      .source = "StableHLO spec, shift_right_arithmetic and shift_right_logical",
  };
}

}  // namespace hostir
