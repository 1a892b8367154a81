#include <fmt/core.h>

#include "hostir/ops/dynamic.h"

namespace hostir {

namespace {

const ExprList& slice_sizes(const OpCall& call) { return *call.attributes.get<ExprList>("sizes"); }

ops::Violated check_slice_starts(const OpCall& call) { return ops::check_starts(call, 1); }

ops::Violated check_slice_sizes(const OpCall& call) {
  const Shape& from = shape_of(call.operands[0]);
  const ExprList& sizes = slice_sizes(call);
  if (sizes.size() != from.size()) {
    return Violation{
        fmt::format("dynamic_slice has {} sizes for {} dimensions", sizes.size(), from.size())};
  }
  for (size_t d = 0; d < from.size(); ++d) {
    if (!ops::is_below(sizes[d], 0) && !ops::is_below(from[d], sizes[d])) continue;
    return Violation{fmt::format("dynamic_slice of {} elements of dimension {}, which has {}",
                                 sizes[d].to_string(), d, from[d].to_string())};
  }
  return std::nullopt;
}

Expected<std::vector<Type>> infer_dynamic_slice(const OpCall& call) {
  return ops::inferred(ops::tensor(dtype_of(call.operands[0]), slice_sizes(call)));
}

// Along a dimension that is not taken whole, each rank contributes the part of the box that it
// holds.
Expected<ShardingRule> dynamic_slice_rule(const OpCall& call, std::span<const Type> results) {
  const Shape& from = shape_of(call.operands[0]);
  const Shape& to = shape_of(results[0]);
  ShardingRule r;
  r.factor_sizes = from;
  r.operands = {ops::one_to_one(0, from.size())};
  r.results = r.operands;
  for (size_t d = 0; d < from.size(); ++d) {
    if (ops::same_size(from[d], to[d])) continue;
    r.results[0][d] = {r.factor_count()};
    r.factor_sizes.push_back(to[d]);
    const bool sums = dtype_of(call.operands[0]) != DType::kI1;
    (sums ? r.reduction : r.replicated).push_back(static_cast<int>(d));
  }
  r.operands.resize(call.operands.size());  // the starts are scalars
  return r;
}

ops::Values dynamic_slice_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  ops::Values operands = {b.zeros_like(b.arg(0)), dy[0]};
  for (size_t i = 1; i < b.call().operands.size(); ++i) operands.push_back(b.arg(i));
  ops::Values out(b.call().operands.size());
  out[0] = b.op(OpKind::dynamic_update_slice, std::move(operands));
  return out;
}

}  // namespace

OpRecord op_dynamic_slice() {
  return {
      .mnemonic = "dynamic_slice",
      .shape = OpShape::kIndexed,
      .summary = "A box of fixed size whose start is given by scalars.",
      .doc = {.shapes = "x of any shape, one scalar start per dimension; y has the shape `sizes`.",
              .sharding = "Dimensions taken whole pass through. If another one is cut, each rank "
                          "takes the part of the box that it holds, which leaves a partial sum. "
                          "Partial values stay partial.",
              .dtypes = "x of any dtype, starts of any integer. A start is moved so that the box "
                        "lies within x.",
              .cost = "Reads and writes y once (bytes); no flops."},
      .operands = {{.name = "x", .doc = "the operand", .partial = ops::kMoved},
                   {.name = ops::kStartsSlot,
                    .doc = "one integer scalar per dimension",
                    .arity = OperandSpec::Arity::kVariadic}},
      .attributes = {{.name = "sizes",
                      .type = AttributeSpec::Type::kExprs,
                      .doc = "the shape of the result",
                      .required = true}},
      .results = {{.name = "y", .doc = "y[i] = x[start + i]"}},
      .constraints = {{"dynamic_slice_c1", ops::kStarts, check_slice_starts},
                      {"dynamic_slice_c2", "sizes has an entry per dimension, within x.",
                       check_slice_sizes}},
      .infer = infer_dynamic_slice,
      .rule = dynamic_slice_rule,
      .cost = ops::pointwise_cost<0>,
      .gradient = "dx = dy put into zeros by dynamic_update_slice",
      .vjp = dynamic_slice_vjp,
      .example =
          R"(fusion @f(%x: tensor<8x4xf32>, %i: tensor<i32>, %j: tensor<i32>) -> (%y: tensor<2x4xf32>) {
  %y = dynamic_slice %x, %i, %j {sizes = [2, 4]}
  return %y
})",
      .source = "StableHLO spec, dynamic_slice",
  };
}

}  // namespace hostir
