#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/indexed.h"

namespace hostir {

namespace {

struct Bounds {
  ExprList start;
  ExprList limit;
  IntList stride;  // all 1 if not given
};

Bounds bounds_of(const OpCall& call) {
  Bounds b;
  b.start = call.attributes.get_or<ExprList>("start", {});
  b.limit = call.attributes.get_or<ExprList>("limit", {});
  b.stride = call.attributes.get_or<IntList>("stride", IntList(b.start.size(), 1));
  return b;
}

ops::Violated check_slice_counts(const OpCall& call) {
  const Bounds b = bounds_of(call);
  const size_t rank = shape_of(call.operands[0]).size();
  if (b.start.size() == rank && b.limit.size() == rank && b.stride.size() == rank) {
    return std::nullopt;
  }
  return Violation{fmt::format("slice has {} starts, {} limits and {} strides for {} dimensions",
                               b.start.size(), b.limit.size(), b.stride.size(), rank)};
}

ops::Violated check_slice_bounds(const OpCall& call) {
  if (check_slice_counts(call)) return std::nullopt;  // slice_c1
  const Bounds b = bounds_of(call);
  const Shape& shape = shape_of(call.operands[0]);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!ops::is_below(b.start[d], 0) && !ops::is_below(b.limit[d], b.start[d]) &&
        !ops::is_below(shape[d], b.limit[d])) {
      continue;
    }
    return Violation{fmt::format("slice {}:{} of dimension {} is not within 0:{}",
                                 b.start[d].to_string(), b.limit[d].to_string(), d,
                                 shape[d].to_string())};
  }
  return std::nullopt;
}

ops::Violated check_strides(const OpCall& call) {
  for (const int64_t stride : bounds_of(call).stride) {
    if (stride < 1)
      return Violation{fmt::format("slice has the stride {}, it must be 1 or more", stride)};
  }
  return std::nullopt;
}

IndexExpr extent(const IndexExpr& start, const IndexExpr& limit, int64_t stride) {
  IndexExpr length = IndexExpr::binary(IndexExpr::Kind::kSub, limit, start);
  if (stride > 1) {
    length = IndexExpr::binary(IndexExpr::Kind::kSub, std::move(length), 1).simplified();
    length = IndexExpr::binary(IndexExpr::Kind::kDiv, std::move(length), stride);
    length = IndexExpr::binary(IndexExpr::Kind::kAdd, std::move(length), 1);
  }
  return length.simplified();
}

Expected<std::vector<Type>> infer_slice(const OpCall& call) {
  const Bounds b = bounds_of(call);
  Shape shape;
  for (size_t d = 0; d < b.start.size(); ++d) {
    shape.push_back(extent(b.start[d], b.limit[d], b.stride[d]));
  }
  return ops::inferred(ops::tensor(dtype_of(call.operands[0]), std::move(shape)));
}

Expected<ShardingRule> slice_rule(const OpCall& call, std::span<const Type>) {
  const Bounds b = bounds_of(call);
  const Shape& from = shape_of(call.operands[0]);
  ShardingRule r;
  r.factor_sizes = from;
  r.operands = {ops::one_to_one(0, from.size())};
  r.results = r.operands;
  for (size_t d = 0; d < from.size(); ++d) {
    const bool whole =
        ops::same_size(b.start[d], 0) && ops::same_size(b.limit[d], from[d]) && b.stride[d] == 1;
    if (whole) continue;
    const auto f = static_cast<int>(d);
    r.permutation.push_back(f);
    if (b.stride[d] == 1) r.shifts.push_back({0, f, f, b.start[d]});
  }
  return r;
}

// Pads dy with zeros where elements were cut off: before, between and after.
ops::Values slice_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const Shape& from = b.shape(b.arg(0));
  const Shape& to = b.shape(b.result());
  const IntList stride = b.attributes().get_or<IntList>("stride", IntList(from.size(), 1));
  const ExprList low = b.attributes().get_or<ExprList>("start", {});
  IntList interior;
  ExprList high;
  for (size_t d = 0; d < from.size(); ++d) {
    interior.push_back(stride[d] - 1);
    // size of x - start - n elements - the gaps between them
    IndexExpr used = IndexExpr::binary(IndexExpr::Kind::kAdd, low[d], to[d]);
    if (stride[d] > 1) {
      used = IndexExpr::binary(IndexExpr::Kind::kAdd, std::move(used),
                               ops::interior_elements(to[d], stride[d] - 1));
    }
    high.push_back(IndexExpr::binary(IndexExpr::Kind::kSub, from[d], used).simplified());
  }
  return {b.op(OpKind::pad, {dy[0]},
               ops::attrs({{"low", low}, {"high", high}, {"interior", interior}}))};
}

}  // namespace

OpRecord op_slice() {
  return {
      .mnemonic = "slice",
      .shape = OpShape::kBroadcast,
      .summary = "A box of a tensor, with strides.",
      .doc =
          {.shapes = "x of any shape; result size ceil((limit - start) / stride) per dimension.",
           .sharding =
               "Dimensions taken whole pass through. If another one is cut, each rank takes what "
               "it holds, and neighbours exchange what the result's parts lack, once for several "
               "slices of one value; with a stride it is gathered where the result's parts do not "
               "lie in the operand's or near them. Partial values stay partial.",
           .dtypes = "Any.",
           .cost = "Reads x at most once and writes y once (bytes); no flops."},
      .operands = {{.name = "x", .doc = "the operand", .partial = ops::kMoved}},
      .attributes = {{.name = "start",
                      .type = AttributeSpec::Type::kExprs,
                      .doc = "the first index, per dimension",
                      .required = true},
                     {.name = "limit",
                      .type = AttributeSpec::Type::kExprs,
                      .doc = "the upper bound, exclusive, per dimension",
                      .required = true},
                     {.name = "stride",
                      .type = AttributeSpec::Type::kInts,
                      .doc = "the step, per dimension; 1 everywhere if left out"}},
      .results = {{.name = "y", .doc = "x[start:limit:stride]"}},
      .constraints = {{"slice_c1", "start, limit and stride have one entry per dimension.",
                       check_slice_counts},
                      {"slice_c2", "0 <= start <= limit <= size in every dimension.",
                       check_slice_bounds},
                      {"slice_c3", "Strides are 1 or more.", check_strides}},
      .infer = infer_slice,
      .rule = slice_rule,
      .cost = ops::pointwise_cost<0>,
      .gradient = "dx = dy, with zeros for the elements outside the box",
      .vjp = slice_vjp,
      .example = R"(fusion @f(%x: tensor<4x6xf32>) -> (%y: tensor<2x3xf32>) {
  %y = slice %x {start = [1, 0], limit = [3, 6], stride = [1, 2]}
  return %y
})",
      .source = "StableHLO spec, slice; sharding rule of Shardy",
  };
}

}  // namespace hostir
