#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/builder.h"
#include "hostir/ops/written.h"

namespace hostir {

namespace {

ops::Violated check_dims(const OpCall& call) {
  const Shape* to = ops::wanted_shape(call);
  if (to == nullptr) return std::nullopt;  // broadcast_in_dim_c1
  const IntList dims = ops::dims_of(call, "dims");
  const size_t rank = shape_of(call.operands[0]).size();
  if (dims.size() != rank) {
    return Violation{fmt::format(
        "dims of broadcast_in_dim has {} entries, the operand {} dimensions", dims.size(), rank)};
  }
  return ops::check_dims(dims, to->size(), "dims of broadcast_in_dim");
}

ops::Violated check_sizes(const OpCall& call) {
  const Shape* to = ops::wanted_shape(call);
  if (to == nullptr || check_dims(call)) return std::nullopt;  // _c1, _c2
  const IntList dims = ops::dims_of(call, "dims");
  const Shape& from = shape_of(call.operands[0]);
  for (size_t d = 0; d < from.size(); ++d) {
    const IndexExpr& wide = (*to)[static_cast<size_t>(dims[d])];
    if (ops::same_size(from[d], wide) || ops::same_size(from[d], 1)) continue;
    return Violation{fmt::format("broadcast_in_dim of dimension {}: size {} is neither 1 nor {}", d,
                                 from[d].to_string(), wide.to_string()),
                     0};
  }
  return std::nullopt;
}

Expected<std::vector<Type>> infer_broadcast_in_dim(const OpCall& call) {
  return ops::inferred(ops::tensor(dtype_of(call.operands[0]), *ops::wanted_shape(call)));
}

// One factor per result dimension, in order. If a dimension of size 1 is widened, a separate factor
// of size 1 for the operand precedes it.
Expected<ShardingRule> broadcast_in_dim_rule(const OpCall& call, std::span<const Type> results) {
  const Shape& from = shape_of(call.operands[0]);
  const Shape& to = shape_of(results[0]);
  const IntList dims = ops::dims_of(call, "dims");
  ShardingRule r;
  r.operands = {ShardingRule::TensorFactors(from.size())};
  r.results.emplace_back();
  for (size_t d = 0; d < to.size(); ++d) {
    const auto at = std::find(dims.begin(), dims.end(), static_cast<int64_t>(d));
    const auto source = static_cast<size_t>(at - dims.begin());
    const bool has_source = at != dims.end();
    if (has_source) r.operands[0][source] = {r.factor_count()};
    if (has_source && !ops::same_size(from[source], to[d])) r.factor_sizes.push_back(from[source]);
    r.results[0].push_back({r.factor_count()});
    r.factor_sizes.push_back(to[d]);
  }
  return r;
}

// Sums dy over the new and the widened dimensions.
ops::Values broadcast_in_dim_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const Shape& from = b.shape(b.arg(0));
  const Shape& to = b.shape(b.result());
  const IntList dims = b.attributes().get_or<IntList>("dims", {});
  IntList kept;
  IntList order;
  for (size_t d = 0; d < from.size(); ++d) {
    if (ops::same_size(from[d], to[static_cast<size_t>(dims[d])])) kept.push_back(dims[d]);
  }
  const ValueId sum = b.sum(dy[0], ops::other_dims(to.size(), kept));
  // The sum has the kept dimensions in result order; the operand may have a different order.
  IntList sorted = kept;
  std::sort(sorted.begin(), sorted.end());
  for (const int64_t d : kept) {
    order.push_back(std::find(sorted.begin(), sorted.end(), d) - sorted.begin());
  }
  return {b.reshape(b.transpose(sum, std::move(order)), from)};
}

}  // namespace

OpRecord op_broadcast_in_dim() {
  return {
      .mnemonic = "broadcast_in_dim",
      .shape = OpShape::kBroadcast,
      .summary = "A tensor repeated along new dimensions and along dimensions of size 1.",
      .doc = {.shapes =
                  "x of any shape; dimension d of x becomes dimension dims[d] of the result, with "
                  "the same size or widened from 1.",
              .sharding =
                  "Dimensions that keep their size pass through; new ones may be cut freely. "
                  "Partial values stay partial.",
              .dtypes = "Any.",
              .cost = "Reads x and writes y once (bytes); no flops."},
      .operands = {{.name = "x", .doc = "the operand", .partial = ops::kMoved}},
      .attributes = {{.name = "dims",
                      .type = AttributeSpec::Type::kInts,
                      .doc =
                          "for each operand dimension, the corresponding dimension of the result",
                      .required = true},
                     {.name = "shape",
                      .type = AttributeSpec::Type::kExprs,
                      .doc =
                          "the result's sizes; may be left out where the result type is written"}},
      .results = {{.name = "y", .doc = "x repeated"}},
      .constraints =
          {{"broadcast_in_dim_c1", ops::kWantedShape, ops::check_wanted_shape},
           {"broadcast_in_dim_c2",
            "dims has one entry per operand dimension: dimensions of the result, each once.",
            check_dims},
           {"broadcast_in_dim_c3", "Sizes stay or are widened from 1.", check_sizes}},
      .infer = infer_broadcast_in_dim,
      .rule = broadcast_in_dim_rule,
      .cost = ops::pointwise_cost<0>,
      .gradient = "dx = reduce_sum dy over the new and the widened dimensions",
      .vjp = broadcast_in_dim_vjp,
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<2x4xf32>) {
  %y = broadcast_in_dim %x {dims = [1], shape = [2, 4]}
  return %y
})",
      .source = "StableHLO spec, broadcast_in_dim; sharding rule of Shardy",
  };
}

}  // namespace hostir
