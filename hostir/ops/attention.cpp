#include "hostir/ops/attention.h"

#include <cmath>

namespace hostir::ops {

namespace {

size_t heads_of(Builder& b) { return b.rank(b.arg(0)) - 3; }
IndexExpr groups_of(Builder& b) { return b.shape(b.arg(1))[heads_of(b)]; }

// Sums a cotangent of the scores' shape to that of the mask, which was widened.
ValueId narrowed_to(Builder& b, ValueId x, ValueId mask) {
  const Shape wide = b.shape(x);
  const Shape narrow = b.shape(grouped_mask(b, mask));
  IntList dims;
  for (size_t d = 0; d < wide.size(); ++d) {
    const size_t added = wide.size() - narrow.size();
    if (d < added || !same_size(narrow[d - added], wide[d]))
      dims.push_back(static_cast<int64_t>(d));
  }
  const ValueId sum = dims.empty() ? x : b.sum(x, dims);
  return b.cast(b.reshape(sum, b.shape(mask)), b.dtype(mask));
}

}  // namespace

ValueId attention_scale(Builder& b, ValueId like) {
  if (const auto* scale = b.attributes().get<double>("scale")) return b.full_like(like, *scale);
  const IndexExpr size = b.shape(b.arg(0)).back().simplified();
  if (size.is_const()) {
    return b.full_like(like, 1 / std::sqrt(static_cast<double>(size.value())));
  }
  return b.broadcast_to(b.op(OpKind::rsqrt, {b.full_size(b.dtype(like), {}, size)}), b.shape(like));
}

Shape in_groups(Shape shape, size_t at, const IndexExpr& groups) {
  const IndexExpr heads = shape[at];
  shape[at] = groups;
  const IndexExpr each = IndexExpr::binary(IndexExpr::Kind::kDiv, heads, groups).simplified();
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at) + 1, each);
  return shape;
}

ValueId by_groups(Builder& b, ValueId queries) {
  const size_t heads = heads_of(b);
  const IndexExpr groups = groups_of(b);
  if (b.error() || same_size(b.shape(queries)[heads], groups)) return queries;
  return b.reshape(queries, in_groups(b.shape(queries), heads, groups));
}

ValueId grouped_mask(Builder& b, ValueId mask) {
  const IndexExpr groups = groups_of(b);
  if (same_size(b.shape(b.arg(0))[heads_of(b)], groups) || b.rank(mask) < 3) return mask;
  const size_t heads = b.rank(mask) - 3;
  const Shape shape = b.shape(mask);
  const bool alike = same_size(shape[heads], 1);
  return b.reshape(mask, in_groups(shape, heads, alike ? IndexExpr(1) : groups));
}

ValueId matrices_transposed(Builder& b, ValueId x) {
  IntList order = all_dims(b.rank(x));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return b.transpose(x, order);
}

ValueId group_product(Builder& b, ValueId a, ValueId c, int64_t contracted) {
  const IntList batch = all_dims(b.rank(c) - 2);
  return b.op(OpKind::dot_general, {a, c},
              attrs({{"lhs_batch", batch},
                     {"rhs_batch", batch},
                     {"lhs_contracting", IntList{b.last_dim(a)}},
                     {"rhs_contracting", IntList{contracted}}}));
}

ValueId attention_scores(Builder& b, ValueId q, ValueId mask) {
  const ValueId k = b.arg(1);
  // k as it is given, not transposed: its gradient shares a copy that was gathered for it.
  const ValueId products = b.widened(group_product(b, q, k, b.last_dim(k)));
  if (b.error()) return products;
  ValueId scores = b.mul(products, attention_scale(b, products));
  if (b.error()) return scores;
  const Shape shape = b.shape(scores);
  const auto rank = static_cast<int64_t>(shape.size());
  const ValueId lowest = b.full_like(scores, -1e30);
  if (b.attributes().get_or<bool>("causal", false)) {
    const ValueId query = b.iota(DType::kI32, shape, rank - 2);
    const ValueId key = b.iota(DType::kI32, shape, rank - 1);
    scores = b.select(b.compare(query, key, "ge"), scores, lowest);
  }
  if (!mask.valid()) return scores;
  const ValueId wide = b.broadcast_to(grouped_mask(b, mask), shape);
  if (b.error()) return scores;
  if (b.dtype(wide) == DType::kI1) return b.select(wide, scores, lowest);
  return b.add(scores, b.cast(wide, b.dtype(scores)));
}

AttentionWeights attention_weights(Builder& b, ValueId scores) {
  if (b.error()) return {scores, scores};
  const IntList keys = {b.last_dim(scores)};
  const Shape shape = b.shape(scores);
  const ValueId largest = b.reduce(OpKind::reduce_max, scores, keys);
  const ValueId shifted = b.exp(b.sub(scores, b.unreduce(largest, keys, shape)));
  const ValueId sum = b.sum(shifted, keys);
  return {b.div(shifted, b.unreduce(sum, keys, shape)), b.add(largest, b.log(sum))};
}

Values attention_gradient(Builder& b, AttentionCotangents of) {
  const ValueId k = b.arg(1);
  const ValueId v = b.arg(2);
  const ValueId q = by_groups(b, b.arg(0));
  if (b.error()) return Values(4);
  const DType dtype = b.dtype(q);
  const bool grouped = q != b.arg(0);
  // Weights may have been declared with groups that turn out to have one head each.
  Shape scores = b.shape(q);
  scores.back() = b.shape(k)[b.rank(k) - 2];
  of.weights = b.reshape(of.weights, scores);
  of.d_weights = b.reshape(of.d_weights, scores);
  // x [.., S, T] with the queries' side y [.., S, n]: sums over the queries, and the heads of a
  // group, for each key.
  const auto for_keys = [&](ValueId x, ValueId y) {
    if (!grouped) return b.matmul(matrices_transposed(b, x), y);
    const int64_t queries = b.last_dim(x) - 1;
    const IntList batch = all_dims(b.rank(k) - 2);
    return b.op(OpKind::dot_general, {x, y},
                attrs({{"lhs_batch", batch},
                       {"rhs_batch", batch},
                       {"lhs_contracting", IntList{queries - 1, queries}},
                       {"rhs_contracting", IntList{queries - 1, queries}}}));
  };
  ValueId d_weights = of.d_weights;
  ValueId dv;
  if (of.dy.valid()) {
    const ValueId dy = by_groups(b, of.dy);
    dv = for_keys(b.cast(of.weights, dtype), dy);
    // v as attention reads it: a copy that was gathered for it is used again.
    const ValueId more = b.widened(group_product(b, dy, v, b.last_dim(v)));
    d_weights = d_weights.valid() ? b.add(d_weights, more) : more;
  }
  if (b.error()) return Values(4);
  const Shape shape = b.shape(of.weights);
  const IntList keys = {b.last_dim(of.weights)};
  ValueId d_scores;
  if (d_weights.valid()) {
    // The sum of weights times their cotangents; for those of dy it is the sum of y times dy.
    const bool by_results = of.y.valid() && !of.d_weights.valid();
    const ValueId weighted =
        by_results ? b.mul(b.widened(by_groups(b, of.dy)), b.widened(by_groups(b, of.y)))
                   : b.mul(d_weights, of.weights);
    const ValueId sums = b.sum(weighted, {b.last_dim(weighted)});
    d_scores = b.mul(of.weights, b.sub(d_weights, b.unreduce(sums, keys, shape)));
  }
  if (of.d_log_sums.valid()) {
    Shape per_query = shape;
    per_query.pop_back();
    const ValueId each = b.unreduce(b.reshape(of.d_log_sums, per_query), keys, shape);
    const ValueId more = b.mul(of.weights, each);
    d_scores = d_scores.valid() ? b.add(d_scores, more) : more;
  }
  ValueId d_mask;
  if (of.mask.valid() && is_float(b.dtype(of.mask))) {
    d_mask = narrowed_to(b, d_scores, of.mask);
  } else if (of.mask.valid()) {
    const ValueId seen = b.broadcast_to(grouped_mask(b, of.mask), shape);
    d_scores = b.select(seen, d_scores, b.zeros_like(d_scores));
  }
  if (b.error()) return Values(4);
  const ValueId d_products = b.cast(b.mul(d_scores, attention_scale(b, d_scores)), dtype);
  const ValueId dq =
      grouped ? group_product(b, d_products, k, b.last_dim(k) - 1) : b.matmul(d_products, k);
  if (b.error()) return Values(4);
  return {b.reshape(dq, b.shape(b.arg(0))), for_keys(d_products, q), dv, d_mask};
}

}  // namespace hostir::ops
