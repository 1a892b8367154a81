#include <fmt/core.h>

#include "hostir/ops/dynamic.h"

namespace hostir {

namespace {

ops::Violated check_update_starts(const OpCall& call) { return ops::check_starts(call, 2); }

ops::Violated check_update(const OpCall& call) {
  const Shape& x = shape_of(call.operands[0]);
  const Shape& update = shape_of(call.operands[1]);
  bool fits = x.size() == update.size() && dtype_of(call.operands[0]) == dtype_of(call.operands[1]);
  for (size_t d = 0; fits && d < x.size(); ++d) fits = !ops::is_below(x[d], update[d]);
  if (fits) return std::nullopt;
  return Violation{fmt::format("dynamic_update_slice puts {} into {}; the update must have the "
                               "same dtype and rank, and fit",
                               to_string(call.operands[1]), to_string(call.operands[0])),
                   1};
}

// Along a dimension where the update is shorter, each rank writes the part that overlaps its part
// of the base.
Expected<ShardingRule> dynamic_update_slice_rule(const OpCall& call, std::span<const Type>) {
  const Shape& x = shape_of(call.operands[0]);
  const Shape& update = shape_of(call.operands[1]);
  ShardingRule r;
  r.factor_sizes = x;
  r.operands.assign(2, ops::one_to_one(0, x.size()));
  r.results = {r.operands[0]};
  for (size_t d = 0; d < x.size(); ++d) {
    if (ops::same_size(x[d], update[d])) continue;
    r.operands[1][d] = {r.factor_count()};
    r.factor_sizes.push_back(update[d]);
  }
  r.operands.resize(call.operands.size());
  return r;
}

ops::Values dynamic_update_slice_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  ops::Values starts;
  for (size_t i = 2; i < b.call().operands.size(); ++i) starts.push_back(b.arg(i));
  ops::Values into = {dy[0], b.zeros_like(b.arg(1))};
  into.insert(into.end(), starts.begin(), starts.end());
  ops::Values from = {dy[0]};
  from.insert(from.end(), starts.begin(), starts.end());
  ops::Values out(b.call().operands.size());
  out[0] = b.op(OpKind::dynamic_update_slice, std::move(into));
  out[1] = b.op(OpKind::dynamic_slice, std::move(from),
                ops::attrs({{"sizes", ExprList(b.shape(b.arg(1)))}}));
  return out;
}

}  // namespace

OpRecord op_dynamic_update_slice() {
  return {
      .mnemonic = "dynamic_update_slice",
      .shape = OpShape::kIndexed,
      .summary = "Copies the base and replaces one box of it; scalars say where the box starts.",
      .doc = {.shapes = "Base and result of one shape, the update of the same rank and not larger, "
                        "one scalar start per dimension.",
              .sharding =
                  "All dimensions of the base pass through; the update is whole where it is "
                  "shorter than the base. Jointly linear in both.",
              .dtypes =
                  "Base and update have the same dtype; starts are integers of any width. A start "
                  "is moved so that the box lies within the base.",
              .cost = "Reads base and update and writes y once (bytes); no flops."},
      .operands = {{.name = "base", .doc = "what is copied", .partial = ops::kAllMovedAlike},
                   {.name = "update",
                    .doc = "the new contents of the box",
                    .partial = ops::kAllMovedAlike},
                   {.name = ops::kStartsSlot,
                    .doc = "one integer scalar per dimension",
                    .arity = OperandSpec::Arity::kVariadic}},
      .results = {{.name = "y", .doc = "the base but y[start + i] = update[i]"}},
      .constraints = {{"dynamic_update_slice_c1",
                       "The update has the dtype and rank of the base and is not larger.",
                       check_update},
                      {"dynamic_update_slice_c2", ops::kStarts, check_update_starts}},
      .infer = ops::infer_like_first,
      .rule = dynamic_update_slice_rule,
      .cost = ops::pointwise_cost<0>,
      .gradient = "dx = dy with zeros in the box, dupdate = the box of dy",
      .vjp = dynamic_update_slice_vjp,
      .example =
          R"(fusion @f(%x: tensor<8xf32>, %u: tensor<2xf32>, %i: tensor<i32>) -> (%y: tensor<8xf32>) {
  %y = dynamic_update_slice %x, %u, %i
  return %y
})",
      .source = "StableHLO spec, dynamic_update_slice",
  };
}

}  // namespace hostir
