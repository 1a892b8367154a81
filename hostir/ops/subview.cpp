#include <fmt/core.h>

#include "hostir/ops/host.h"

namespace hostir {

namespace {

struct Ranges {
  ExprList starts;
  ExprList limits;
};

Ranges ranges_of(const OpCall& call) {
  return {call.attributes.get_or<ExprList>("starts", {}),
          call.attributes.get_or<ExprList>("limits", {})};
}

bool to_the_end(const IndexExpr& limit) { return limit.simplified() == IndexExpr(-1); }

const DimSharding* cut_of(const Type& type, size_t d) {
  const auto* shard = std::get_if<ShardType>(&type);
  if (shard == nullptr || d >= shard->sharding->dims.size()) return nullptr;
  const DimSharding& cut = shard->sharding->dims[d];
  return cut.axes.empty() ? nullptr : &cut;
}

// The local size of a dimension if it is the same on every rank.
std::optional<IndexExpr> local_size(const Type& type, size_t d) {
  return cut_of(type, d) == nullptr ? std::optional(shape_of(type)[d]) : std::nullopt;
}

// The local size of a dimension that whole axes of the function's mesh cut, by the rank's
// coordinates.
std::optional<IndexExpr> size_on_rank(const OpCall& call, size_t d) {
  using Kind = IndexExpr::Kind;
  const DimSharding* cut = cut_of(call.operands[0], d);
  if (cut == nullptr) return shape_of(call.operands[0])[d];
  const auto& shard = std::get<ShardType>(call.operands[0]);
  if (call.function == nullptr || shard.sharding->mesh != call.function->mesh || cut->has_blocks())
    return std::nullopt;
  IndexExpr size = shard.shape[d];
  for (const AxisRef& axis : cut->axes) {
    if (!axis.whole()) return std::nullopt;
    const IndexExpr parts = IndexExpr::axis_size(axis.name);
    const IndexExpr rounded =
        IndexExpr::binary(Kind::kAdd, size, IndexExpr::binary(Kind::kSub, parts, 1));
    const IndexExpr most = IndexExpr::binary(Kind::kDiv, rounded, parts);
    const IndexExpr before = IndexExpr::binary(Kind::kMul, most, IndexExpr::coord(axis.name));
    const IndexExpr left = IndexExpr::binary(Kind::kSub, size, before);
    size = IndexExpr::binary(Kind::kMax, 0, IndexExpr::binary(Kind::kMin, most, left));
  }
  return size.simplified();
}

ops::Violated check_subview_counts(const OpCall& call) {
  const Ranges r = ranges_of(call);
  const Type* buffer = ops::only_buffer(call);
  if (buffer == nullptr) return std::nullopt;  // subview_c1
  const size_t rank = shape_of(*buffer).size();
  if (r.starts.size() == rank && r.limits.size() == rank) return std::nullopt;
  return Violation{fmt::format("subview has {} ranges for {} dimensions", r.starts.size(), rank)};
}

ops::Violated check_subview_bounds(const OpCall& call) {
  if (ops::only_buffer(call) == nullptr || check_subview_counts(call))
    return std::nullopt;  // _c1, _c2
  const Ranges r = ranges_of(call);
  for (size_t d = 0; d < r.starts.size(); ++d) {
    const auto size = local_size(call.operands[0], d);
    const bool open = to_the_end(r.limits[d]);
    const IndexExpr limit = open && size ? *size : r.limits[d];
    const bool crossed = (!open || size) && ops::is_below(limit, r.starts[d]);
    if (!ops::is_below(r.starts[d], 0) && !crossed && !(size && ops::is_below(*size, limit)))
      continue;
    return Violation{fmt::format("subview {}:{} of dimension {} is not within 0:{}",
                                 r.starts[d].to_string(), limit.to_string(), d,
                                 size ? size->to_string() : "its size")};
  }
  return std::nullopt;
}

bool is_written(const OpCall& call) { return !call.written.empty() && is_tensor(call.written[0]); }

// The parts of a shard that may differ by rank have sizes that the coordinates give.
ops::Violated check_known(const OpCall& call) {
  if (is_written(call) || ops::only_buffer(call) == nullptr || check_subview_counts(call))
    return std::nullopt;
  const Ranges r = ranges_of(call);
  for (size_t d = 0; d < r.limits.size(); ++d) {
    if (!to_the_end(r.limits[d]) || size_on_rank(call, d)) continue;
    return Violation{
        fmt::format("the size of subview's dimension {} differs by rank, and axes of this mesh do "
                    "not say how: write its type, or the limits",
                    d)};
  }
  return std::nullopt;
}

Expected<std::vector<Type>> infer_subview(const OpCall& call) {
  if (is_written(call)) return ops::inferred(call.written[0]);
  const Ranges r = ranges_of(call);
  Shape shape;
  for (size_t d = 0; d < r.starts.size(); ++d) {
    IndexExpr limit = to_the_end(r.limits[d]) ? *size_on_rank(call, d) : r.limits[d];
    shape.push_back(
        IndexExpr::binary(IndexExpr::Kind::kSub, std::move(limit), r.starts[d]).simplified());
  }
  return ops::inferred(ops::tensor(dtype_of(call.operands[0]), std::move(shape)));
}

}  // namespace

OpRecord op_subview() {
  return {
      .mnemonic = "subview",
      .op_class = OpClass::kHost,
      .shape = OpShape::kHost,
      .role = HostRole::kView,
      .summary = "Names a box of a buffer. The view shares the buffer's memory.",
      .doc = {.shapes =
                  "One start and limit per dimension; the result's sizes are their differences.",
              .sharding =
                  "A view is a tensor, also of a shard, where the bounds are indices of the local "
                  "part: `%x[:, :]` is the local part as a tensor, whose size may differ by rank. "
                  "A view that is a shard has a written type.",
              .dtypes = "The buffer's.",
              .cost = "None: no work."},
      .operands = {{.name = "buffer", .doc = "what is viewed"}},
      .attributes = {{.name = "starts",
                      .type = AttributeSpec::Type::kExprs,
                      .doc = "the first index, per dimension",
                      .required = true},
                     {.name = "limits",
                      .type = AttributeSpec::Type::kExprs,
                      .doc = "the upper bound, exclusive, per dimension; -1 for the end",
                      .required = true}},
      .results = {{.name = "view", .doc = "the view"}},
      .constraints = {{"subview_c1", "The operand is a buffer.", ops::check_buffer},
                      {"subview_c2", "starts and limits have one entry per dimension.",
                       check_subview_counts},
                      {"subview_c3", "0 <= start <= limit <= size, where these are known.",
                       check_subview_bounds},
                      {"subview_c4",
                       "The view's type is written where no coordinates of the rank give its size.",
                       check_known}},
      .infer = infer_subview,
      .gradient = ops::kNoHostGradient,
      .example = R"(mesh @m = <x=2>
kernel @double(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = add %x, %x
  return %y
}
host @f on @m (%a: tensor<8xf32>) -> (%b: tensor<4xf32>) {
  %s = stream "compute"
  %b = alloc on %s : tensor<4xf32>
  %v = subview %a[2:6]
  launch @double ro(%v) wo(%b) on %s
  return %b
})",
      .source = "StableHLO spec, slice, as MLIR's memref.subview aliases",
      .assembly = "$buffer[#starts:#limits] <: type>",
  };
}

}  // namespace hostir
