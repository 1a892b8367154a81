#include "hostir/ops/common.h"

namespace hostir {

OpRecord op_logical_not() {
  return {
      .mnemonic = "logical_not",
      .shape = OpShape::kPointwise,
      .summary = "1 where the element is 0, and 0 where it is 1.",
      .doc = {.shapes = "Any; the result has the same shape.",
              .sharding = "Every dimension passes through. A partial operand is reduced first.",
              .dtypes = "i1 only.",
              .cost = "Reads x and writes y once (bytes); 1 flop per element."},
      .operands = {{.name = "x", .doc = "the operand"}},
      .results = {{.name = "y", .doc = "not x"}},
      .constraints = {{"logical_not_c1", ops::kBool, ops::check_i1}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<1>,
      .gradient = "none: i1 has no derivative",
      .example = R"(fusion @f(%x: tensor<4xi1>) -> (%y: tensor<4xi1>) {
  %y = logical_not %x
  return %y
})",
      .source = "StableHLO spec, not",
  };
}

}  // namespace hostir
