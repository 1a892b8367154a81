// Attention, and its gradient, of queries and keys that are cut over the same axes: the blocks of
// keys and values travel around, and each rank keeps running sums for its own queries.
//
// A dimension of length S is [parts, block] here, filled up at its end, and `parts` is cut. In step
// t position r has the keys of block r - t. Queries are [b.., parts, H, block, D], keys [b..,
// parts, G, block, D]: `parts` is one more batch dimension of an attention.
//   forward   Each step is an attention of its own. The logarithm of the sum of its exponentials
//   says how much
//             it counts in the whole (online softmax). Of causal attention, the first step is the
//             diagonal, and in later ones a block of keys is before the queries or does not count.
//   backward  The scores are computed again from these logarithms; the cotangents of keys and
//   values
//             travel with them, one step further than in the forward pass.
#include "hostir/ops/attention.h"

namespace hostir::ops {

namespace {

class Ring {
 public:
  Ring(Builder& b, const RingCut& cut) : b_(b), cut_(cut), heads_(b.rank(b.arg(0)) - 3) {
    const Shape q = b.shape(b.arg(0));
    const Shape k = b.shape(b.arg(1));
    grouped_ = !same_size(q[heads_], k[heads_]);
    queries_ = q[heads_ + 1].simplified();
    keys_ = k[heads_ + 1].simplified();
  }

  /// A ring needs a key per position, and a causal one blocks of keys that are entirely before or
  /// after a block of queries.
  bool is_possible() const {
    return queries_.is_const() && keys_.is_const() && keys_.value() >= cut_.parts &&
           (!is_causal() || has_like_blocks());
  }

  ValueId query_blocks(ValueId x) { return blocks(x, cut_.operands[0]); }
  ValueId key_blocks(ValueId x) { return blocks(x, cut_.operands[1]); }
  /// The reverse of these.
  ValueId of_queries(ValueId x, DType dtype) { return whole(b_.cast(x, dtype), queries_); }
  ValueId of_keys(ValueId x, DType dtype) { return whole(b_.cast(x, dtype), keys_); }

  /// Blocks of queries with their heads in groups.
  ValueId in_groups_of_heads(ValueId x) {
    if (b_.error() || !grouped_) return x;
    return b_.reshape(x, in_groups(b_.shape(x), heads_ + 1, b_.shape(b_.arg(1))[heads_]));
  }
  /// The reverse, for a tensor with one more dimension after the heads' and the block's.
  ValueId without_groups(ValueId x) {
    if (b_.error() || !grouped_) return x;
    Shape shape = b_.shape(x);
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(heads_) + 2);
    shape[heads_ + 1] = b_.shape(b_.arg(0))[heads_];
    return b_.reshape(x, shape);
  }

  /// Every position gets the block of the position before it.
  ValueId moved_on(ValueId x) {
    if (b_.error()) return x;
    const Attributes by_one = attrs({{"shift", IndexExpr(1)}, {"dim", parts_dim()}});
    return cut(b_.op(OpKind::roll, {x}, by_one), cut_.operands[1]);
  }

  /// The scores of all queries for the keys of step `t`.
  ValueId scores(ValueId q, ValueId k, int64_t t) {
    const ValueId wide = b_.widened(group_product(b_, q, k, b_.last_dim(k)));
    if (b_.error()) return wide;
    const ValueId scaled = b_.mul(wide, attention_scale(b_, wide));
    const ValueId seen = is_seen(scaled, t);
    return seen.valid() ? b_.select(seen, scaled, b_.full_like(scaled, -1e30)) : scaled;
  }

  /// For each query: the sum over keys of x [.., block, keys] times y [.., keys, n].
  ValueId over_keys(ValueId x, ValueId y) {
    return b_.widened(group_product(b_, x, y, b_.last_dim(y) - 1));
  }
  /// For each key: the sum over queries, and the heads of a group.
  ValueId over_queries(ValueId x, ValueId y) {
    const int64_t block = b_.last_dim(x) - 1;
    const IntList contracted = grouped_ ? IntList{block - 1, block} : IntList{block};
    const IntList batch = all_dims(heads_ + 2);
    return b_.widened(b_.op(OpKind::dot_general, {x, y},
                            attrs({{"lhs_batch", batch},
                                   {"rhs_batch", batch},
                                   {"lhs_contracting", contracted},
                                   {"rhs_contracting", contracted}})));
  }
  /// True for keys that are not filled up; `shape` ends with the keys of a block. Invalid if all
  /// are there, or filled ones are after every query that sees what is before it.
  ValueId exists(const Shape& shape, int64_t t) {
    const bool filled = block(keys_, cut_.parts) * cut_.parts != keys_.value();
    if (!filled || (is_causal() && keys_.value() >= queries_.value())) return {};
    const ValueId key = place(holder(shape, t), shape, static_cast<int64_t>(shape.size()) - 1);
    return b_.compare(key, b_.full_like(key, static_cast<double>(keys_.value())), "lt");
  }

  /// Attention to the keys of step `t`: the result and its logarithms.
  std::pair<ValueId, ValueId> attention(ValueId q, ValueId k, ValueId v, int64_t t) {
    Values operands = {q, k, v};
    if (b_.error()) return {};
    Shape mask(b_.rank(q), IndexExpr(1));
    mask[heads_] = cut_.parts;
    mask.back() = b_.shape(k)[heads_ + 2];
    if (const ValueId there = exists(mask, t); there.valid()) operands.push_back(there);
    Attributes attributes = b_.attributes();
    if (t > 0) attributes.erase("causal");
    const Values made = b_.ops(OpKind::scaled_dot_product_attention, operands, attributes, 3);
    if (b_.error() || t == 0 || !is_causal()) return {made[0], made[2]};
    const ValueId part = b_.iota(DType::kI32, b_.shape(made[2]), parts_dim());
    const ValueId counts = b_.compare(part, b_.full_like(part, static_cast<double>(t)), "ge");
    return {made[0], b_.select(counts, made[2], b_.full_like(made[2], -1e30))};
  }

  /// A value per query, along the last dimension of `like`.
  ValueId along(ValueId per_query, ValueId like) {
    return b_.unreduce(per_query, {b_.last_dim(like)}, b_.shape(like));
  }

 private:
  bool is_causal() const { return b_.attributes().get_or<bool>("causal", false); }
  static int64_t block(const IndexExpr& length, int64_t parts) {
    return std::max<int64_t>(1, (length.value() + parts - 1) / parts);
  }
  // True if a block of keys is as long as one of queries.
  bool has_like_blocks() const { return block(queries_, cut_.parts) == block(keys_, cut_.parts); }

  int64_t parts_dim() const { return static_cast<int64_t>(heads_); }

  // [.., H, parts, block, n] and [.., parts, H, block, n] into each other.
  ValueId swapped(ValueId x) {
    if (b_.error()) return x;
    IntList order = all_dims(b_.rank(x));
    std::swap(order[heads_], order[heads_ + 1]);
    return b_.transpose(x, order);
  }

  ValueId blocks(ValueId x, const Sharding& s) {
    const auto length = static_cast<int64_t>(heads_) + 1;
    return cut(swapped(in_blocks(b_, x, length, cut_.parts, 0)), s);
  }
  ValueId whole(ValueId x, const IndexExpr& length) {
    return out_of_blocks(b_, swapped(x), static_cast<int64_t>(heads_) + 1, length);
  }

  // Blocks are cut as the operand of which they are: batch, `parts` as the length, heads.
  ValueId cut(ValueId x, const Sharding& operand) {
    if (b_.error()) return x;
    Sharding s = Sharding::replicated(operand.mesh, b_.rank(x));
    for (size_t d = 0; d < heads_; ++d) s.dims[d].axes = operand.dims[d].axes;
    s.dims[heads_].axes = operand.dims[heads_ + 1].axes;
    s.dims[heads_ + 1].axes = operand.dims[heads_].axes;
    b_.annotate(x, std::move(s));
    return x;
  }

  // True where the query may see the key: it is not after the query, and not filled up.
  ValueId is_seen(ValueId scores, int64_t t) {
    const Shape shape = b_.shape(scores);
    const int64_t last = b_.last_dim(scores);
    ValueId seen;
    if (is_causal()) {
      const ValueId part = b_.iota(DType::kI32, shape, parts_dim());
      const ValueId key = place(holder(shape, t), shape, last);
      seen = b_.compare(place(part, shape, last - 1), key, "ge");
    }
    const ValueId there = exists(shape, t);
    if (!there.valid()) return seen;
    return seen.valid() ? b_.op(OpKind::logical_and, {seen, there}) : there;
  }

  // The number of the block of keys that a position has in step `t`.
  ValueId holder(const Shape& shape, int64_t t) {
    const ValueId part = b_.iota(DType::kI32, shape, parts_dim());
    if (t == 0) return part;
    const ValueId before = b_.shifted(part, static_cast<double>(cut_.parts - t));
    return b_.op(OpKind::rem, {before, b_.full_like(part, static_cast<double>(cut_.parts))});
  }

  // The index in the whole length of an element of block `part`.
  ValueId place(ValueId part, const Shape& shape, int64_t dim) {
    const int64_t block = shape[static_cast<size_t>(dim)].simplified().value();
    return b_.add(b_.scaled(part, static_cast<double>(block)), b_.iota(DType::kI32, shape, dim));
  }

  Builder& b_;
  const RingCut& cut_;
  size_t heads_;
  bool grouped_ = false;
  IndexExpr queries_ = 0;
  IndexExpr keys_ = 0;
};

}  // namespace

Values ring_attention(Builder& b, const RingCut& cut) {
  Ring ring(b, cut);
  if (b.has_arg(3) || !ring.is_possible()) return {};
  const DType dtype = b.dtype(b.arg(0));
  const ValueId q = ring.query_blocks(b.arg(0));
  ValueId k = ring.key_blocks(b.arg(1));
  ValueId v = ring.key_blocks(b.arg(2));
  ValueId y, log_sums;
  for (int64_t t = 0; t < cut.parts; ++t) {
    const auto [part, part_sums] = ring.attention(q, k, v, t);
    if (b.error()) return Values(3);
    if (t == 0) {
      y = b.widened(part);
      log_sums = part_sums;
    } else {
      const ValueId larger = b.op(OpKind::maximum, {log_sums, part_sums});
      const ValueId before = b.exp(b.sub(log_sums, larger));
      const ValueId now = b.exp(b.sub(part_sums, larger));
      const ValueId both = b.add(before, now);
      y = b.add(b.mul(y, ring.along(b.div(before, both), y)),
                b.mul(b.widened(part), ring.along(b.div(now, both), y)));
      log_sums = b.add(larger, b.log(both));
    }
    if (t + 1 == cut.parts) break;
    k = ring.moved_on(k);
    v = ring.moved_on(v);
  }
  return {ring.of_queries(y, dtype), log_sums, log_sums};
}

Values ring_attention_gradient(Builder& b, const RingCut& cut) {
  enum : size_t { kY = 3, kLogSums = 4, kDy = 5, kMask = 6 };
  Ring ring(b, cut);
  if (b.has_arg(kMask) || !ring.is_possible()) return {};
  const DType dtype = b.dtype(b.arg(0));
  const auto queries = [&](ValueId x) { return ring.in_groups_of_heads(ring.query_blocks(x)); };
  const ValueId q = queries(b.arg(0));
  const ValueId dy = queries(b.arg(kDy));
  const ValueId products = b.mul(b.widened(dy), b.widened(queries(b.arg(kY))));
  if (b.error()) return Values(3);
  const ValueId sums = b.sum(products, {b.last_dim(products)});
  const ValueId log_sums = ring.in_groups_of_heads(b.arg(kLogSums));
  ValueId k = ring.key_blocks(b.arg(1));
  ValueId v = ring.key_blocks(b.arg(2));
  ValueId dq, dk, dv;
  for (int64_t t = 0; t < cut.parts; ++t) {
    const ValueId scores = ring.scores(q, k, t);
    if (b.error()) return Values(3);
    const ValueId shares = b.exp(b.sub(scores, ring.along(log_sums, scores)));
    const ValueId d_shares = b.widened(group_product(b, dy, v, b.last_dim(v)));
    if (b.error()) return Values(3);
    const ValueId d_scores = b.mul(shares, b.sub(d_shares, ring.along(sums, scores)));
    const ValueId d_products = b.cast(b.mul(d_scores, attention_scale(b, d_scores)), dtype);
    const ValueId for_q = ring.over_keys(d_products, k);
    const ValueId for_k = ring.over_queries(d_products, q);
    const ValueId for_v = ring.over_queries(b.cast(shares, dtype), dy);
    dq = t > 0 ? b.add(dq, for_q) : for_q;
    dk = ring.moved_on(t > 0 ? b.add(dk, for_k) : for_k);
    dv = ring.moved_on(t > 0 ? b.add(dv, for_v) : for_v);
    if (t + 1 == cut.parts) break;
    k = ring.moved_on(k);
    v = ring.moved_on(v);
  }
  return {ring.of_queries(ring.without_groups(dq), dtype), ring.of_keys(dk, dtype),
          ring.of_keys(dv, dtype)};
}

}  // namespace hostir::ops
