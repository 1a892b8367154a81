#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hostir/ops/composite.h"

namespace hostir {

namespace {

ops::Violated check_k(const OpCall& call) {
  if (ops::check_indexed_dim(call)) return std::nullopt;  // topk_c1
  const IndexExpr k = call.attributes.get_or<IndexExpr>("k", IndexExpr(0));
  const IndexExpr& size = shape_of(call.operands[0])[ops::indexed_dim(call)];
  if (!ops::is_below(k, 0) && !ops::is_below(size, k)) return std::nullopt;
  return Violation{fmt::format("topk takes {} of {} elements", k.to_string(), size.to_string())};
}

Expected<std::vector<Type>> infer_topk(const OpCall& call) {
  Shape shape = shape_of(call.operands[0]);
  shape[ops::indexed_dim(call)] = call.attributes.get_or<IndexExpr>("k", IndexExpr(0));
  return std::vector<Type>{ops::tensor(dtype_of(call.operands[0]), shape),
                           ops::tensor(DType::kI32, shape)};
}

// The dimension has separate factors, both whole: which elements are largest depends on all.
Expected<ShardingRule> topk_rule(const OpCall& call, std::span<const Type> results) {
  const Shape& from = shape_of(call.operands[0]);
  const size_t dim = ops::indexed_dim(call);
  ShardingRule r;
  r.factor_sizes = from;
  r.operands = {ops::one_to_one(0, from.size())};
  auto to = r.operands[0];
  to[dim] = {r.factor_count()};
  r.factor_sizes.push_back(shape_of(results[0])[dim]);
  r.replicated = {static_cast<int>(dim), r.factor_count() - 1};
  r.results.assign(results.size(), to);
  return r;
}

double lowest(DType dtype) {
  if (is_float(dtype)) return -std::numeric_limits<double>::infinity();
  if (dtype == DType::kI1 || is_unsigned(dtype)) return 0;
  return -std::ldexp(1, static_cast<int>(8 * size_bytes(dtype)) - 1);
}

// The k largest of each block, and of these the k largest.
ops::Values topk_of_blocks(ops::Builder& b, int64_t parts) {
  const ValueId x = b.arg(0);
  const int64_t dim = ops::dim_of(b.attributes(), "dim", b.rank(x));
  const auto d = static_cast<size_t>(dim);
  const IndexExpr size = b.shape(x)[d].simplified();
  const IndexExpr k = b.attributes().get_or<IndexExpr>("k", IndexExpr(0)).simplified();
  if (!size.is_const() || !k.is_const()) return {};
  const int64_t block = (size.value() + parts - 1) / parts;
  const int64_t kept = std::min(k.value(), block);
  if (2 * kept * parts > size.value()) return {};
  const DType dtype = b.dtype(x);
  const bool exact = !is_float(dtype) || size_bytes(dtype) > 1;  // has the lowest number
  const ValueId blocks = ops::in_blocks(b, exact ? x : b.widened(x), dim, parts, lowest(dtype));
  const auto largest = [&](ValueId of, int64_t along, int64_t count) {
    ops::Values sorted =
        b.ops(OpKind::sort, {of}, ops::attrs({{"dim", along}, {"descending", true}}), 2);
    for (ValueId& v : sorted) v = b.slice_dim(v, along, 0, count);
    return sorted;
  };
  const ops::Values first = largest(blocks, dim + 1, kept);
  if (b.error()) return first;
  const Shape shape = b.shape(first[1]);
  const ValueId begins = b.mul(b.iota(DType::kI32, shape, dim),
                               b.full(DType::kI32, shape, static_cast<double>(block)));
  const IndexExpr count = kept * parts;
  const ValueId places = ops::out_of_blocks(b, b.add(first[1], begins), dim, count);
  const ops::Values best = largest(ops::out_of_blocks(b, first[0], dim, count), dim, k.value());
  return {b.cast(best[0], dtype),
          b.op(OpKind::take_along, {places, best[1]}, ops::attrs({{"dim", dim}}))};
}

ops::Values topk_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  if (!dy[0].valid()) return {ValueId()};
  const int64_t dim = ops::dim_of(b.attributes(), "dim", b.rank(b.arg(0)));
  const IndexExpr size = b.shape(b.arg(0))[static_cast<size_t>(dim)];
  return {
      b.op(OpKind::put_along, {dy[0], b.result(1)}, ops::attrs({{"dim", dim}, {"size", size}}))};
}

ops::Values expand_topk(ops::Builder& b) {
  const int64_t dim = ops::dim_of(b.attributes(), "dim", b.rank(b.arg(0)));
  const IndexExpr k = b.attributes().get_or<IndexExpr>("k", IndexExpr(0));
  const ops::Values sorted =
      b.ops(OpKind::sort, {b.arg(0)}, ops::attrs({{"dim", dim}, {"descending", true}}), 2);
  return {b.slice_dim(sorted[0], dim, 0, k), b.slice_dim(sorted[1], dim, 0, k)};
}

}  // namespace

OpRecord op_topk() {
  return {
      .mnemonic = "topk",
      .shape = OpShape::kComposite,
      .summary =
          "The k largest elements along one dimension, the largest first, and their positions.",
      .doc =
          {.shapes = "x of rank 1 or more; both results have size k along dim.",
           .sharding =
               "Other dimensions pass through. If dim is cut, each rank finds its own k largest, "
               "and these are gathered.",
           .dtypes = "Any; the indices are i32. Equal elements keep their order.",
           .cost = "That of sort."},
      .operands = {{.name = "x", .doc = "the operand"}},
      .attributes =
          {{.name = "k", .type = AttributeSpec::Type::kExpr, .doc = "how many", .required = true},
           ops::dim_attribute("the dimension to search")},
      .results = {{.name = "y", .doc = "the largest elements"},
                  {.name = "indices", .doc = "their positions in x", .optional = true}},
      .constraints = {{"topk_c1", ops::kDim, ops::check_indexed_dim},
                      {"topk_c2", "k is not negative and not more than the size of dim.", check_k}},
      .infer = infer_topk,
      .rule = topk_rule,
      .expand = expand_topk,
      .expand_blocks = topk_of_blocks,
      .cost = ops::composite_cost<40>,
      .gradient = "dx = put_along dy at the indices",
      .vjp = topk_vjp,
      .example =
          R"(fusion @f(%x: tensor<2x8xf32>) -> (%y: tensor<2x2xf32>, %at: tensor<2x2xi32>) {
  %y, %at = topk %x {k = 2}
  return %y, %at
})",
      .source = "torch.topk (sorted), jax.lax.top_k",
  };
}

}  // namespace hostir
