#include <fmt/core.h>

#include "hostir/ops/composite.h"

namespace hostir {

namespace {

ops::Violated check_bounds(const OpCall& call) {
  const auto* low = call.attributes.get<double>("min");
  const auto* high = call.attributes.get<double>("max");
  if (low == nullptr && high == nullptr) return Violation{"clamp needs min or max"};
  if (low == nullptr || high == nullptr || *low <= *high) return std::nullopt;
  return Violation{
      fmt::format("clamp to at least {} and at most {}; min must not be above max", *low, *high)};
}

ops::Values expand_clamp(ops::Builder& b) {
  ValueId y = b.arg(0);
  if (const auto* low = b.attributes().get<double>("min")) {
    y = b.op(OpKind::maximum, {y, b.full_like(y, *low)});
  }
  if (const auto* high = b.attributes().get<double>("max")) {
    y = b.op(OpKind::minimum, {y, b.full_like(y, *high)});
  }
  return {y};
}

}  // namespace

OpRecord op_clamp() {
  return {
      .mnemonic = "clamp",
      .shape = OpShape::kComposite,
      .summary = "Each element, clamped to a range.",
      .doc = {.shapes = "Any; the result has the same shape.",
              .sharding = "Every dimension passes through. A partial sum is reduced first.",
              .dtypes = "All but i1; the bounds are rounded to the dtype. NaN stays NaN.",
              .cost = "Reads x and writes y once (bytes); 2 flops per element."},
      .operands = {{.name = "x", .doc = "the operand"}},
      .attributes = {{.name = "min",
                      .type = AttributeSpec::Type::kFloat,
                      .doc = "the smallest result; none if absent"},
                     {.name = "max",
                      .type = AttributeSpec::Type::kFloat,
                      .doc = "the largest result; none if absent"}},
      .results = {{.name = "y", .doc = "min(max(x, min), max)"}},
      .constraints = {{"clamp_c1", "At least one bound is given, and min is not above max.",
                       check_bounds},
                      {"clamp_c2", ops::kNumeric, ops::check_numeric}},
      .infer = ops::infer_like_first,
      .expand = expand_clamp,
      .cost = ops::composite_cost<2>,
      .gradient = "dx = dy where x is in the range, else 0",
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = clamp %x {min = -1.0, max = 1.0}
  return %y
})",
      .source = "torch.clamp; StableHLO spec, clamp",
  };
}

}  // namespace hostir
