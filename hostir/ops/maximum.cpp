#include "hostir/ops/builder.h"

namespace hostir {

namespace {

constexpr PartialUses kMaximumLattice = {.min = PartialUse::kOthersWhole,
                                         .max = PartialUse::kAnyMix};

ops::Values maximum_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const ValueId zero = b.zeros_like(dy[0]);
  const ValueId first = b.compare(b.arg(0), b.arg(1), "ge");
  return {b.select(first, dy[0], zero), b.select(first, zero, dy[0])};
}

}  // namespace

OpRecord op_maximum() {
  return {
      .mnemonic = "maximum",
      .shape = OpShape::kPointwise,
      .summary = "The larger of two tensors, element by element.",
      .doc = {.shapes = "Any shape, the same for both operands and the result.",
              .sharding = "Every dimension passes through. Operands that are partial max stay "
                          "partial, alone or together; one partial min stays partial.",
              .dtypes = "All but i1. 16- and 8-bit floats are computed in f32 and rounded once.",
              .cost = "Reads a and b and writes y once (bytes); 1 flop per element."},
      .operands = {{.name = "a", .doc = "the left operand", .partial = kMaximumLattice},
                   {.name = "b", .doc = "the right operand", .partial = kMaximumLattice}},
      .results = {{.name = "y", .doc = "max(a, b); NaN if either is"}},
      .constraints = {{"maximum_c1", ops::kSameShape, ops::check_same_shape},
                      {"maximum_c2", ops::kSameDType, ops::check_same_dtype},
                      {"maximum_c3", ops::kNumeric, ops::check_numeric}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<1>,
      .gradient = "da = dy where a >= b, db = dy elsewhere",
      .vjp = maximum_vjp,
      .example = R"(fusion @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = maximum %a, %b
  return %y
})",
      .source = "StableHLO spec, maximum",
  };
}

}  // namespace hostir
