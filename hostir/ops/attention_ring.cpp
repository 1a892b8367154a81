// Attention, and its gradient, of queries and keys that are cut over the same axes: the blocks of
// keys and values travel around, and each rank keeps running sums for its own queries.
//
// The sequence is split into [parts, block] and padded at its end. In step t, position r holds the
// keys of block r - t.
//   forward   Each step is an attention of its own, joined to the others by the logarithms of the
//             sums of exponentials. With a causal mask, step 0 is the diagonal; in later steps a
//             block of keys lies entirely before the queries, or is dropped.
//   backward  The scores are computed again from these logarithms; the cotangents of keys and
//             values travel with them, one step further than in the forward pass.
#include "hostir/ops/ring_steps.h"

namespace hostir::ops {

namespace {

class Ring : public RingSteps {
 public:
  using RingSteps::RingSteps;

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

  /// The scores of all queries for the keys of step `t`.
  ValueId scores(ValueId q, ValueId k, int64_t t) {
    const ValueId scaled = scaled_scores(q, k);
    if (b_.error()) return scaled;
    const ValueId seen = is_seen(scaled, t);
    return seen.valid() ? b_.select(seen, scaled, b_.full_like(scaled, -1e30)) : scaled;
  }

  /// Attention to the keys of step `t`.
  PartialAttention attention_at(int64_t t, ValueId q, ValueId k, ValueId v) {
    if (b_.error()) return {};
    Shape mask(b_.rank(q), IndexExpr(1));
    mask[heads_] = cut_.parts;
    mask.back() = b_.shape(k)[heads_ + 2];
    const Sees sees = t == 0 && is_causal() ? Sees::kUpToItself : Sees::kAll;
    PartialAttention out = attention(q, k, v, sees, exists(mask, t));
    if (b_.error() || t == 0 || !is_causal()) return out;
    out.log_sums = masked_sums(out.log_sums, is_from(t, b_.shape(out.log_sums)));
    return out;
  }

 private:
  static int64_t block(const IndexExpr& length, int64_t parts) {
    return std::max<int64_t>(1, (length.value() + parts - 1) / parts);
  }
  // True if a block of keys is as long as one of queries.
  bool has_like_blocks() const { return block(queries_, cut_.parts) == block(keys_, cut_.parts); }

  ValueId blocks(ValueId x, const Sharding& s) {
    return cut(swapped(in_blocks(b_, x, length_dim(), cut_.parts, 0)), s);
  }
  ValueId whole(ValueId x, const IndexExpr& length) {
    return out_of_blocks(b_, swapped(x), length_dim(), length);
  }

  // True for keys that are not padding; `shape` ends with the keys of a block. Invalid if nothing
  // has to be masked: there is no padding, or the causal mask hides it.
  ValueId exists(const Shape& shape, int64_t t) {
    const bool filled = block(keys_, cut_.parts) * cut_.parts != keys_.value();
    if (!filled || (is_causal() && keys_.value() >= queries_.value())) return {};
    const ValueId key = place(holder(shape, t), shape, static_cast<int64_t>(shape.size()) - 1);
    return b_.compare(key, b_.full_like(key, static_cast<double>(keys_.value())), "lt");
  }

  // True where the query may see the key: the key is not after the query, and not padding.
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
};

}  // namespace

Values ring_attention(Builder& b, const RingCut& cut) {
  if (b.has_arg(3)) return {};
  if (is_balanced_ring(b, cut)) return balanced_ring_attention(b, cut);
  Ring ring(b, cut);
  if (!ring.is_possible()) return {};
  const ValueId q = ring.query_blocks(b.arg(0));
  ValueId k = ring.key_blocks(b.arg(1));
  ValueId v = ring.key_blocks(b.arg(2));
  PartialAttention all;
  for (int64_t t = 0; t < cut.parts; ++t) {
    const PartialAttention part = ring.attention_at(t, q, k, v);
    if (b.error()) return Values(3);
    all = t == 0 ? PartialAttention{b.widened(part.y), part.log_sums} : ring.joined(all, part);
    if (t + 1 == cut.parts) break;
    k = ring.moved_on(k);
    v = ring.moved_on(v);
  }
  return {ring.of_queries(all.y, b.dtype(b.arg(0))), all.log_sums, all.log_sums};
}

Values ring_attention_gradient(Builder& b, const RingCut& cut) {
  enum : size_t { kY = 3, kLogSums = 4, kDy = 5, kMask = 6 };
  if (b.has_arg(kMask)) return {};
  if (is_balanced_ring(b, cut)) return balanced_ring_gradient(b, cut);
  Ring ring(b, cut);
  if (!ring.is_possible()) return {};
  const DType dtype = b.dtype(b.arg(0));
  const RingQueries queries =
      ring.queries_of(ring.query_blocks(b.arg(0)), ring.query_blocks(b.arg(kY)),
                      ring.query_blocks(b.arg(kDy)), b.arg(kLogSums));
  ValueId k = ring.key_blocks(b.arg(1));
  ValueId v = ring.key_blocks(b.arg(2));
  RingGradient all;
  for (int64_t t = 0; t < cut.parts; ++t) {
    const RingGradient part = ring.gradient(queries, k, v, ring.scores(queries.q, k, t));
    if (b.error()) return Values(3);
    all.q = t > 0 ? b.add(all.q, part.q) : part.q;
    all.k = ring.moved_on(t > 0 ? b.add(all.k, part.k) : part.k);
    all.v = ring.moved_on(t > 0 ? b.add(all.v, part.v) : part.v);
    if (t + 1 == cut.parts) break;
    k = ring.moved_on(k);
    v = ring.moved_on(v);
  }
  return {ring.of_queries(ring.without_groups(all.q), dtype), ring.of_keys(all.k, dtype),
          ring.of_keys(all.v, dtype)};
}

}  // namespace hostir::ops
