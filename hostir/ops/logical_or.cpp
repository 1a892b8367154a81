#include "hostir/ops/common.h"

namespace hostir {

OpRecord op_logical_or() {
  return {
      .mnemonic = "logical_or",
      .shape = OpShape::kPointwise,
      .summary = "1 where either element is 1.",
      .doc = {.shapes = "Any shape, the same for both operands and the result.",
              .sharding = "Every dimension passes through. A partial operand is reduced first.",
              .dtypes = "i1 only.",
              .cost = "Reads a and b and writes y once (bytes); 1 flop per element."},
      .operands = {{.name = "a", .doc = "the left operand"},
                   {.name = "b", .doc = "the right operand"}},
      .results = {{.name = "y", .doc = "a or b"}},
      .constraints = {{"logical_or_c1", ops::kSameShape, ops::check_same_shape},
                      {"logical_or_c2", ops::kBool, ops::check_i1}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<1>,
      .gradient = "none: i1 has no derivative",
      .example = R"(fusion @f(%a: tensor<4xi1>, %b: tensor<4xi1>) -> (%y: tensor<4xi1>) {
  %y = logical_or %a, %b
  return %y
})",
      .source = "StableHLO spec, or",
  };
}

}  // namespace hostir
