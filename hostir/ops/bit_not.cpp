#include "hostir/ops/common.h"

namespace hostir {

OpRecord op_bit_not() {
  return {
      .mnemonic = "bit_not",
      .shape = OpShape::kPointwise,
      .summary = "Each integer with all its bits inverted.",
      .doc = {.shapes = "Any; the result has the same shape.",
              .sharding = "Every dimension passes through. A partial operand is reduced first.",
              .dtypes = "Integers, not i1.",
              .cost = "Reads x and writes y once (bytes); 1 flop per element."},
      .operands = {{.name = "x", .doc = "the operand"}},
      .results = {{.name = "y", .doc = "~x"}},
      .constraints = {{"bit_not_c1", ops::kInteger, ops::check_integer}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<1>,
      .gradient = "none: integers have no derivative",
      .example = R"(fusion @f(%x: tensor<4xi32>) -> (%y: tensor<4xi32>) {
  %y = bit_not %x
  return %y
})",
      .source = "StableHLO spec, not",
  };
}

}  // namespace hostir
