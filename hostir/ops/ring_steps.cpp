#include "hostir/ops/ring_steps.h"

#include <utility>

namespace hostir::ops {

RingSteps::RingSteps(Builder& b, const RingCut& cut)
    : b_(b), cut_(cut), heads_(b.rank(b.arg(0)) - 3) {
  const Shape q = b.shape(b.arg(0));
  const Shape k = b.shape(b.arg(1));
  grouped_ = !same_size(q[heads_], k[heads_]);
  queries_ = q[heads_ + 1].simplified();
  keys_ = k[heads_ + 1].simplified();
}

ValueId RingSteps::swapped(ValueId x) {
  if (b_.error()) return x;
  IntList order = all_dims(b_.rank(x));
  std::swap(order[heads_], order[heads_ + 1]);
  return b_.transpose(x, order);
}

ValueId RingSteps::cut(ValueId x, const Sharding& operand) {
  if (b_.error()) return x;
  Sharding s = Sharding::replicated(operand.mesh, b_.rank(x));
  for (size_t d = 0; d < heads_; ++d) s.dims[d].axes = operand.dims[d].axes;
  s.dims[heads_].axes = operand.dims[heads_ + 1].axes;
  s.dims[heads_ + 1].axes = operand.dims[heads_].axes;
  b_.annotate(x, std::move(s));
  return x;
}

ValueId RingSteps::moved_on(ValueId x) {
  if (b_.error()) return x;
  const Attributes by_one = attrs({{"shift", IndexExpr(1)}, {"dim", parts_dim()}});
  return cut(b_.op(OpKind::roll, {x}, by_one), cut_.operands[1]);
}

ValueId RingSteps::is_from(int64_t t, const Shape& shape) {
  const ValueId part = b_.iota(DType::kI32, shape, parts_dim());
  return b_.compare(part, b_.full_like(part, static_cast<double>(t)), "ge");
}

ValueId RingSteps::in_groups_of_heads(ValueId x) {
  if (b_.error() || !grouped_) return x;
  return b_.reshape(x, in_groups(b_.shape(x), heads_ + 1, b_.shape(b_.arg(1))[heads_]));
}

ValueId RingSteps::without_groups(ValueId x) {
  if (b_.error() || !grouped_) return x;
  Shape shape = b_.shape(x);
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(heads_) + 2);
  shape[heads_ + 1] = b_.shape(b_.arg(0))[heads_];
  return b_.reshape(x, shape);
}

RingQueries RingSteps::queries_of(ValueId q, ValueId y, ValueId dy, ValueId log_sums) {
  RingQueries out{in_groups_of_heads(q), in_groups_of_heads(dy), {}, in_groups_of_heads(log_sums)};
  const ValueId products = b_.mul(b_.widened(out.dy), b_.widened(in_groups_of_heads(y)));
  if (!b_.error()) out.sums = b_.sum(products, {b_.last_dim(products)});
  return out;
}

PartialAttention RingSteps::attention(ValueId q, ValueId k, ValueId v, Sees sees, ValueId exists) {
  Values operands = {q, k, v};
  if (b_.error()) return {};
  if (exists.valid()) operands.push_back(exists);
  Attributes attributes = b_.attributes();
  attributes.erase("balanced");
  if (sees == Sees::kAll) attributes.erase("causal");
  const Values made = b_.ops(OpKind::scaled_dot_product_attention, operands, attributes, 3);
  return {made[0], made[2]};
}

PartialAttention RingSteps::joined(const PartialAttention& a, const PartialAttention& b) {
  if (b_.error()) return {};
  const ValueId larger = b_.op(OpKind::maximum, {a.log_sums, b.log_sums});
  const ValueId of_a = b_.exp(b_.sub(a.log_sums, larger));
  const ValueId of_b = b_.exp(b_.sub(b.log_sums, larger));
  const ValueId both = b_.add(of_a, of_b);
  const ValueId y = b_.widened(a.y);
  return {b_.add(b_.mul(y, along(b_.div(of_a, both), y)),
                 b_.mul(b_.widened(b.y), along(b_.div(of_b, both), y))),
          b_.add(larger, b_.log(both))};
}

ValueId RingSteps::masked_sums(ValueId log_sums, ValueId counts) {
  return b_.select(counts, log_sums, b_.full_like(log_sums, -1e30));
}

ValueId RingSteps::scaled_scores(ValueId q, ValueId k) {
  const ValueId wide = b_.widened(group_product(b_, q, k, b_.last_dim(k)));
  return b_.error() ? wide : b_.mul(wide, attention_scale(b_, wide));
}

RingGradient RingSteps::gradient(const RingQueries& of, ValueId k, ValueId v, ValueId scores) {
  if (b_.error()) return {};
  const DType dtype = b_.dtype(b_.arg(0));
  const ValueId shares = b_.exp(b_.sub(scores, along(of.log_sums, scores)));
  const ValueId d_shares = b_.widened(group_product(b_, of.dy, v, b_.last_dim(v)));
  if (b_.error()) return {};
  const ValueId d_scores = b_.mul(shares, b_.sub(d_shares, along(of.sums, scores)));
  const ValueId d_products = b_.cast(b_.mul(d_scores, attention_scale(b_, d_scores)), dtype);
  return {over_keys(d_products, k), over_queries(d_products, of.q),
          over_queries(b_.cast(shares, dtype), of.dy)};
}

// For each query: the sum over keys of x [.., block, keys] times y [.., keys, n].
ValueId RingSteps::over_keys(ValueId x, ValueId y) {
  return b_.widened(group_product(b_, x, y, b_.last_dim(y) - 1));
}

// For each key: the sum over queries, and the heads of a group.
ValueId RingSteps::over_queries(ValueId x, ValueId y) {
  const int64_t block = b_.last_dim(x) - 1;
  const IntList contracted = grouped_ ? IntList{block - 1, block} : IntList{block};
  const IntList batch = all_dims(heads_ + 2);
  return b_.widened(b_.op(OpKind::dot_general, {x, y},
                          attrs({{"lhs_batch", batch},
                                 {"rhs_batch", batch},
                                 {"lhs_contracting", contracted},
                                 {"rhs_contracting", contracted}})));
}

// A value per query, along the last dimension of `like`.
ValueId RingSteps::along(ValueId per_query, ValueId like) {
  return b_.unreduce(per_query, {b_.last_dim(like)}, b_.shape(like));
}

}  // namespace hostir::ops
