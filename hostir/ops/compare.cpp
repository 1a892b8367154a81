#include "hostir/ops/common.h"

namespace hostir {

namespace {

Expected<std::vector<Type>> infer_compare(const OpCall& call) {
  return ops::inferred(ops::tensor(DType::kI1, shape_of(call.operands[0])));
}

}  // namespace

OpRecord op_compare() {
  return {
      .mnemonic = "compare",
      .shape = OpShape::kPointwise,
      .summary = "1 where the comparison of two elements holds, else 0.",
      .doc = {.shapes = "Any shape, the same for both operands and the result.",
              .sharding = "Every dimension passes through. A partial operand is reduced first.",
              .dtypes =
                  "Any, the same for both; the result is i1. A comparison with NaN is 0, only ne "
                  "is 1.",
              .cost = "Reads a and b and writes y once (bytes); 1 flop per element."},
      .operands = {{.name = "a", .doc = "the left operand"},
                   {.name = "b", .doc = "the right operand"}},
      .attributes = {{.name = "direction",
                      .type = AttributeSpec::Type::kKeyword,
                      .doc = "which comparison",
                      .required = true,
                      .keywords = {"eq", "ne", "lt", "le", "gt", "ge"}}},
      .results = {{.name = "y", .doc = "i1"}},
      .constraints = {{"compare_c1", ops::kSameShape, ops::check_same_shape},
                      {"compare_c2", ops::kSameDType, ops::check_same_dtype}},
      .infer = infer_compare,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<1>,
      .gradient = "none: i1 has no derivative",
      .example = R"(fusion @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (%y: tensor<4xi1>) {
  %y = compare %a, %b {direction = lt}
  return %y
})",
      .source = "StableHLO spec, compare",
  };
}

}  // namespace hostir
