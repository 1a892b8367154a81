#include <fmt/core.h>

#include "hostir/ops/builder.h"
#include "hostir/ops/reshape_rule.h"
#include "hostir/ops/written.h"

namespace hostir {

namespace {

// A size such as `?E / 4` is known only when sizes are bound; the check runs again then.
bool is_open(const IndexExpr& size) {
  if (size.is_const()) return false;
  if (size.kind() == IndexExpr::Kind::kDiv) return true;
  for (const IndexExpr& part : size.args()) {
    if (is_open(part)) return true;
  }
  return false;
}

ops::Violated check_count(const OpCall& call) {
  const Shape& from = shape_of(call.operands[0]);
  const Shape* to = ops::wanted_shape(call);
  if (to == nullptr) return std::nullopt;  // reshape_c1
  const IndexExpr before = ops::product(from);
  const IndexExpr after = ops::product(*to);
  if (before == after || is_open(before) || is_open(after)) return std::nullopt;
  return Violation{fmt::format("reshape of {} to {}: {} elements and {}; the numbers must be equal",
                               ops::text(from), ops::text(*to), before.to_string(),
                               after.to_string())};
}

Expected<std::vector<Type>> infer_reshape(const OpCall& call) {
  return ops::inferred(ops::tensor(dtype_of(call.operands[0]), *ops::wanted_shape(call)));
}

Expected<ShardingRule> reshape_rule(const OpCall& call, std::span<const Type> results) {
  return ops::reshape_rule(shape_of(call.operands[0]), shape_of(results[0]));
}

ops::Values reshape_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  return {b.reshape(dy[0], b.shape(b.arg(0)))};
}

}  // namespace

OpRecord op_reshape() {
  return {
      .mnemonic = "reshape",
      .shape = OpShape::kBroadcast,
      .summary = "The same elements in row-major order under another shape.",
      .doc = {.shapes = "Any to any with the same number of elements.",
              .sharding =
                  "Merged and split dimensions share factors; a cut is kept where the boxes map "
                  "one to one, usually at the major end. Partial values stay partial.",
              .dtypes = "Any.",
              .cost = "Reads x and writes y once (bytes); no flops."},
      .operands = {{.name = "x", .doc = "the operand", .partial = ops::kMoved}},
      .attributes = {{.name = "shape",
                      .type = AttributeSpec::Type::kExprs,
                      .doc =
                          "the result's sizes; may be left out where the result type is written"}},
      .results = {{.name = "y", .doc = "x with the new shape"}},
      .constraints = {{"reshape_c1", ops::kWantedShape, ops::check_wanted_shape},
                      {"reshape_c2", "The number of elements stays.", check_count}},
      .infer = infer_reshape,
      .rule = reshape_rule,
      .cost = ops::pointwise_cost<0>,
      .gradient = "dx = reshape dy to the shape of x",
      .vjp = reshape_vjp,
      .example = R"(fusion @f(%x: tensor<2x6xf32>) -> (%y: tensor<3x4xf32>) {
  %y = reshape %x {shape = [3, 4]}
  return %y
})",
      .source = "StableHLO spec, reshape; sharding rule of Shardy",
  };
}

}  // namespace hostir
