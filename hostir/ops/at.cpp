#include <fmt/core.h>

#include "hostir/ops/builder.h"

namespace hostir {

namespace {

const ExprList& indices_of(const Attributes& attributes) {
  return *attributes.get<ExprList>("index");
}

ops::Violated check_index_count(const OpCall& call) {
  const size_t count = indices_of(call.attributes).size();
  const size_t rank = shape_of(call.operands[0]).size();
  if (count >= 1 && count <= rank) return std::nullopt;
  return Violation{fmt::format("at has {} indices for {} dimensions", count, rank)};
}

ops::Violated check_index_range(const OpCall& call) {
  const ExprList& index = indices_of(call.attributes);
  const Shape& shape = shape_of(call.operands[0]);
  for (size_t d = 0; d < index.size(); ++d) {
    const IndexExpr last = IndexExpr::binary(IndexExpr::Kind::kSub, shape[d], 1);
    if (!ops::is_below(index[d], 0) && !ops::is_below(last, index[d])) continue;
    return Violation{fmt::format("index {} of dimension {} is not within 0..{}",
                                 index[d].to_string(), d, last.simplified().to_string())};
  }
  return std::nullopt;
}

Shape without_indexed(const Shape& shape, size_t count) {
  return Shape(shape.begin() + static_cast<std::ptrdiff_t>(count), shape.end());
}

Expected<std::vector<Type>> infer_at(const OpCall& call) {
  return ops::inferred(
      ops::tensor(dtype_of(call.operands[0]),
                  without_indexed(shape_of(call.operands[0]), indices_of(call.attributes).size())));
}

ops::Values expand_at(ops::Builder& b) {
  const Shape from = b.shape(b.arg(0));
  ExprList start = indices_of(b.attributes());
  ExprList limit;
  for (const IndexExpr& i : start)
    limit.push_back(IndexExpr::binary(IndexExpr::Kind::kAdd, i, 1).simplified());
  const size_t count = start.size();
  for (size_t d = count; d < from.size(); ++d) {
    start.emplace_back(0);
    limit.push_back(from[d]);
  }
  const ValueId box = b.slice(b.arg(0), std::move(start), std::move(limit));
  return {b.reshape(box, without_indexed(from, count))};
}

ops::Values at_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const Shape from = b.shape(b.arg(0));
  const ExprList& index = indices_of(b.attributes());
  Shape box = from;
  ExprList low(from.size(), IndexExpr(0));
  ExprList high(from.size(), IndexExpr(0));
  for (size_t d = 0; d < index.size(); ++d) {
    box[d] = 1;
    low[d] = index[d];
    const IndexExpr last = IndexExpr::binary(IndexExpr::Kind::kSub, from[d], 1);
    high[d] = IndexExpr::binary(IndexExpr::Kind::kSub, last, index[d]).simplified();
  }
  return {b.op(OpKind::pad, {b.reshape(dy[0], box)},
               ops::attrs({{"low", std::move(low)}, {"high", std::move(high)}}))};
}

}  // namespace

OpRecord op_at() {
  return {
      .mnemonic = "at",
      .shape = OpShape::kComposite,
      .summary = "One element of the leading dimensions: layer %i of a stack of weights.",
      .doc = {.shapes = "x [n.., a..] and one index per n give [a..].",
              .sharding = "That of slice and reshape: the a pass through.",
              .dtypes = "Any.",
              .cost = "Reads and writes the result once (bytes); no flops."},
      .operands = {{.name = "x", .doc = "the stack"}},
      .attributes = {{.name = "index",
                      .type = AttributeSpec::Type::kExprs,
                      .doc = "indices of the leading dimensions: numbers, sizes, loop variables",
                      .required = true}},
      .results = {{.name = "y", .doc = "x[index]"}},
      .constraints = {{"at_c1", "There are one to as many indices as dimensions.",
                       check_index_count},
                      {"at_c2", "Each index is within its dimension.", check_index_range}},
      .infer = infer_at,
      .expand = expand_at,
      .cost = ops::pointwise_cost<0>,
      .gradient = "dx = dy put into zeros at index; in a loop, the cotangents are stacked",
      .vjp = at_vjp,
      .example = R"(fusion @f(%ws: tensor<3x4x8xf32>) -> (%y: tensor<4x8xf32>) {
  %y = at %ws[1]
  return %y
})",
      .source = "numpy's indexing with an integer; the xs of JAX's lax.scan",
      .assembly = "$x[#index] <: type>",
  };
}

}  // namespace hostir
