#include "hostir/ops/common.h"

namespace hostir {

OpRecord op_sign() {
  return {
      .mnemonic = "sign",
      .shape = OpShape::kPointwise,
      .summary = "-1, 0 or 1 by the sign of each element; NaN stays NaN.",
      .doc = {.shapes = "Any; the result has the same shape.",
              .sharding = "Every dimension passes through. Monotonic: a partial max or min stays "
                          "partial, a partial sum is reduced first.",
              .dtypes = "Floats and signed integers; 16- and 8-bit floats are computed in f32 and "
                        "rounded once, integers wrap.",
              .cost = "Reads x and writes y once (bytes); 1 flop per element."},
      .operands = {{.name = "x", .doc = "the operand", .partial = ops::kRising}},
      .results = {{.name = "y", .doc = "sign(x)"}},
      .constraints = {{"sign_c1", ops::kSigned, ops::check_signed}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<1>,
      .gradient = "none: the derivative is 0 almost everywhere",
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = sign %x
  return %y
})",
      .source = "StableHLO spec, sign",
  };
}

}  // namespace hostir
