#include <fmt/core.h>

#include "hostir/ops/builder.h"

namespace hostir {

namespace {

ops::Violated check_pred(const OpCall& call) {
  const DType dtype = dtype_of(call.operands[0]);
  if (dtype == DType::kI1) return std::nullopt;
  return Violation{fmt::format("the predicate of select is {}, not i1", name(dtype)), 0};
}

ops::Violated check_branches(const OpCall& call) {
  const DType a = dtype_of(call.operands[1]);
  const DType b = dtype_of(call.operands[2]);
  if (a == b) return std::nullopt;
  return Violation{
      fmt::format("select chooses between different dtypes: {} and {}", name(a), name(b)), 2};
}

Expected<std::vector<Type>> infer_select(const OpCall& call) {
  return ops::inferred(ops::tensor(dtype_of(call.operands[1]), shape_of(call.operands[1])));
}

ops::Values select_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const ValueId zero = b.zeros_like(dy[0]);
  return {ValueId(), b.select(b.arg(0), dy[0], zero), b.select(b.arg(0), zero, dy[0])};
}

}  // namespace

OpRecord op_select() {
  return {
      .mnemonic = "select",
      .shape = OpShape::kPointwise,
      .summary = "Chooses between two tensors, element by element, by a predicate.",
      .doc = {.shapes = "Any shape, the same for all three operands and the result.",
              .sharding = "Every dimension passes through. If both choices are partial in the same "
                          "way, so is the result; a partial predicate is reduced first.",
              .dtypes = "The predicate is i1; the choices are of any dtype, the same for both.",
              .cost = "Reads all operands and writes y once (bytes); 1 flop per element."},
      .operands =
          {{.name = "pred", .doc = "the predicate, i1"},
           {.name = "on_true", .doc = "taken where pred is 1", .partial = ops::kAllMovedAlike},
           {.name = "on_false", .doc = "taken where pred is 0", .partial = ops::kAllMovedAlike}},
      .results = {{.name = "y", .doc = "on_true or on_false"}},
      .constraints = {{"select_c1", ops::kSameShape, ops::check_same_shape},
                      {"select_c2", "The predicate is i1.", check_pred},
                      {"select_c3", "Both choices have the same dtype.", check_branches}},
      .infer = infer_select,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<1>,
      .gradient = "on_true: dy where pred, else 0; on_false: 0 where pred, else dy",
      .vjp = select_vjp,
      .example =
          R"(fusion @f(%p: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xf32>)
    -> (%y: tensor<4xf32>) {
  %y = select %p, %a, %b
  return %y
})",
      .source = "StableHLO spec, select",
  };
}

}  // namespace hostir
