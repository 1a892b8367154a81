#include "hostir/ops/common.h"

namespace hostir {

OpRecord op_floor() {
  return {
      .mnemonic = "floor",
      .shape = OpShape::kPointwise,
      .summary = "The largest whole number not above each element.",
      .doc = {.shapes = "Any; the result has the same shape.",
              .sharding = "Every dimension passes through. Monotonic: a partial max or min stays "
                          "partial, a partial sum is reduced first.",
              .dtypes = "Floats; 16- and 8-bit ones are computed in f32 and rounded once.",
              .cost = "Reads x and writes y once (bytes); 1 flop per element."},
      .operands = {{.name = "x", .doc = "the operand", .partial = ops::kRising}},
      .results = {{.name = "y", .doc = "floor(x)"}},
      .constraints = {{"floor_c1", ops::kFloat, ops::check_float}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<1>,
      .gradient = "none: the derivative is 0 almost everywhere",
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = floor %x
  return %y
})",
      .source = "StableHLO spec, floor",
  };
}

}  // namespace hostir
