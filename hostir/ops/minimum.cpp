#include "hostir/ops/builder.h"

namespace hostir {

namespace {

constexpr PartialUses kMinimumLattice = {.min = PartialUse::kAnyMix,
                                         .max = PartialUse::kOthersWhole};

ops::Values minimum_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const ValueId zero = b.zeros_like(dy[0]);
  const ValueId first = b.compare(b.arg(0), b.arg(1), "le");
  return {b.select(first, dy[0], zero), b.select(first, zero, dy[0])};
}

}  // namespace

OpRecord op_minimum() {
  return {
      .mnemonic = "minimum",
      .shape = OpShape::kPointwise,
      .summary = "The smaller of two tensors, element by element.",
      .doc = {.shapes = "Any shape, the same for both operands and the result.",
              .sharding = "Every dimension passes through. Operands that are partial min stay "
                          "partial, alone or together; one partial max stays partial.",
              .dtypes = "All but i1. 16- and 8-bit floats are computed in f32 and rounded once.",
              .cost = "Reads a and b and writes y once (bytes); 1 flop per element."},
      .operands = {{.name = "a", .doc = "the left operand", .partial = kMinimumLattice},
                   {.name = "b", .doc = "the right operand", .partial = kMinimumLattice}},
      .results = {{.name = "y", .doc = "min(a, b); NaN if either is"}},
      .constraints = {{"minimum_c1", ops::kSameShape, ops::check_same_shape},
                      {"minimum_c2", ops::kSameDType, ops::check_same_dtype},
                      {"minimum_c3", ops::kNumeric, ops::check_numeric}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<1>,
      .gradient = "da = dy where a <= b, db = dy elsewhere",
      .vjp = minimum_vjp,
      .example = R"(fusion @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = minimum %a, %b
  return %y
})",
      .source = "StableHLO spec, minimum",
  };
}

}  // namespace hostir
