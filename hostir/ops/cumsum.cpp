#include "hostir/ops/indexed.h"

namespace hostir {

namespace {

// The sum runs along the whole dimension, so one cumsum cannot be cut along it.
Expected<ShardingRule> cumsum_rule(const OpCall& call, std::span<const Type> results) {
  HOSTIR_ASSIGN_OR_RETURN(ShardingRule r, ops::pointwise_rule(call, results));
  r.replicated = {static_cast<int>(ops::indexed_dim(call))};
  return r;
}

// Running sums of each block, plus the sum of all blocks before it.
ops::Values cumsum_of_blocks(ops::Builder& b, int64_t parts) {
  const ValueId x = b.arg(0);
  const int64_t dim = ops::dim_of(b.attributes(), "dim", b.rank(x));
  const IndexExpr size = b.shape(x)[static_cast<size_t>(dim)].simplified();
  if (!size.is_const() || size.value() < 2 * parts) return {};
  const bool reverse = b.attributes().get_or<bool>("reverse", false);
  const auto sums = [&](ValueId of, int64_t along) {
    return b.op(OpKind::cumsum, {of}, ops::attrs({{"dim", along}, {"reverse", reverse}}));
  };
  const ValueId own = sums(ops::in_blocks(b, b.widened(x), dim, parts, 0), dim + 1);
  if (b.error()) return {own};
  Shape shape = b.shape(own);
  const int64_t last = reverse ? 0 : shape[static_cast<size_t>(dim) + 1].simplified().value() - 1;
  Shape totals_shape = shape;
  totals_shape.erase(totals_shape.begin() + dim + 1);
  const ValueId totals = b.reshape(b.slice_dim(own, dim + 1, last, last + 1), totals_shape);
  // The sums before each block: those up to each block, moved on by one.
  ExprList low(totals_shape.size(), 0);
  ExprList high = low;
  (reverse ? high : low)[static_cast<size_t>(dim)] = 1;
  const ValueId moved =
      b.op(OpKind::pad, {sums(totals, dim)}, ops::attrs({{"low", low}, {"high", high}}));
  const ValueId before = b.slice_dim(moved, dim, reverse ? 1 : 0, reverse ? parts + 1 : parts);
  IntList dims = ops::all_dims(shape.size());
  dims.erase(dims.begin() + dim + 1);
  const ValueId y = b.add(own, b.broadcast(before, dims, shape));
  return {b.cast(ops::out_of_blocks(b, y, dim, size), b.dtype(x))};
}

ops::Values cumsum_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  Attributes attributes = b.attributes();
  attributes.set("reverse", !attributes.get_or<bool>("reverse", false));
  return {b.op(OpKind::cumsum, {dy[0]}, std::move(attributes))};
}

}  // namespace

OpRecord op_cumsum() {
  return {
      .mnemonic = "cumsum",
      .shape = OpShape::kIndexed,
      .summary = "Running sums along one dimension.",
      .doc = {.shapes = "Any shape of rank 1 or more; the result has the same.",
              .sharding =
                  "Other dimensions pass through. If dim is cut, each rank sums its own part, and "
                  "the ranks exchange their totals. Linear: a partial sum stays partial.",
              .dtypes = "All but i1. Floats add up in f64 and are rounded once; integers wrap.",
              .cost = "Reads x and writes y once (bytes); 1 flop per element."},
      .operands = {{.name = "x", .doc = "the operand", .partial = ops::kLinear}},
      .attributes = {ops::dim_attribute("the dimension along which to sum"),
                     {.name = "reverse",
                      .type = AttributeSpec::Type::kBool,
                      .doc = "from the last element to the first",
                      .fallback = Attribute(false)}},
      .results = {{.name = "y", .doc = "y[i] = x[0] + .. + x[i]"}},
      .constraints = {{"cumsum_c1", ops::kDim, ops::check_indexed_dim},
                      {"cumsum_c2", ops::kNumeric, ops::check_numeric}},
      .infer = ops::infer_like_first,
      .rule = cumsum_rule,
      .expand_blocks = cumsum_of_blocks,
      .cost = ops::pointwise_cost<1>,
      .gradient = "dx = cumsum of dy from the other end",
      .vjp = cumsum_vjp,
      .example = R"(fusion @f(%x: tensor<2x3xf32>) -> (%y: tensor<2x3xf32>) {
  %y = cumsum %x
  return %y
})",
      .source = "torch.cumsum, jax.lax.cumsum",
  };
}

}  // namespace hostir
