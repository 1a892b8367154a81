#include "hostir/ops/builder.h"

namespace hostir {

namespace {

ops::Values add_vjp(ops::Builder&, std::span<const ValueId> dy) { return {dy[0], dy[0]}; }

}  // namespace

OpRecord op_add() {
  return {
      .mnemonic = "add",
      .shape = OpShape::kPointwise,
      .summary = "The sum of two tensors, element by element.",
      .doc = {.shapes = "Any shape, the same for both operands and the result.",
              .sharding = "Every dimension passes through. Two partial sums over the same axes "
                          "stay partial; a single one is reduced first.",
              .dtypes = "All but i1. 16- and 8-bit floats are computed in f32 and rounded once. "
                        "Integers wrap.",
              .cost = "Reads a and b and writes y once (bytes); 1 flop per element."},
      .operands = {{.name = "a", .doc = "the left operand", .partial = ops::kJointlyLinear},
                   {.name = "b", .doc = "the right operand", .partial = ops::kJointlyLinear}},
      .results = {{.name = "y", .doc = "a + b"}},
      .constraints = {{"add_c1", ops::kSameShape, ops::check_same_shape},
                      {"add_c2", ops::kSameDType, ops::check_same_dtype},
                      {"add_c3", ops::kNumeric, ops::check_numeric}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<1>,
      .gradient = "da = dy, db = dy",
      .vjp = add_vjp,
      .example = R"(fusion @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = add %a, %b
  return %y
})",
      .source = "StableHLO spec, add",
  };
}

}  // namespace hostir
