// Causal attention in a ring in which every position has the same work (zigzag order).
//
// With blocks in the order of the sequence, the last position sees all keys and the first only its
// own, and each step takes as long as the busiest position. Here the length is cut into twice as
// many blocks as there are positions: position r has block r (low) and its mirror image (high).
//   Step 0  The position's own keys: low and high see themselves up to the diagonal, and high sees
//           low.
//   Step t  The keys of position s = r - t. High queries see the low keys of every other position.
//           If s is before r, low queries see its low keys, else high queries see its high keys:
//           `select` takes one of these pairs, so each position multiplies two pairs of blocks.
// The elements reach their blocks and come back by slices and a reversal, which the compiler makes
// an exchange each. Queries and keys are equally long, so the causal mask hides the padding.
#include "hostir/ops/ring_steps.h"

namespace hostir::ops {

namespace {

struct Halves {
  ValueId low;
  ValueId high;
};

class BalancedRing : public RingSteps {
 public:
  using RingSteps::RingSteps;

  Halves query_halves(ValueId x) { return halves(x, cut_.operands[0]); }
  Halves key_halves(ValueId x) { return halves(x, cut_.operands[1]); }
  /// The reverse of these.
  ValueId whole(const Halves& x, DType dtype) {
    if (b_.error()) return x.low;
    const ValueId blocks =
        b_.concat({b_.cast(x.low, dtype), reversed(b_.cast(x.high, dtype))}, parts_dim());
    return out_of_blocks(b_, swapped(blocks), length_dim(), queries_);
  }
  /// One value for both halves of queries, and back: [.., parts, H, 2 * block].
  ValueId both(const Halves& x) {
    return b_.error() ? x.low : b_.concat({x.low, x.high}, block_dim());
  }
  Halves halves_of(ValueId x) {
    if (b_.error()) return {};
    const IndexExpr all = b_.shape(x)[static_cast<size_t>(block_dim())];
    const IndexExpr middle = IndexExpr::binary(IndexExpr::Kind::kDiv, all, 2).simplified();
    return {b_.slice_dim(x, block_dim(), 0, middle), b_.slice_dim(x, block_dim(), middle, all)};
  }

  Halves moved_on_halves(const Halves& x) { return {moved_on(x.low), moved_on(x.high)}; }

  /// `low` where the keys of step `t` are before the queries, else `high`.
  ValueId chosen(int64_t t, ValueId low, ValueId high) {
    return b_.error() ? low : b_.select(is_from(t, b_.shape(low)), low, high);
  }
  Halves plus_chosen(int64_t t, const Halves& sum, ValueId x) {
    if (b_.error()) return sum;
    const ValueId zeros = b_.zeros_like(x);
    return {b_.add(sum.low, chosen(t, x, zeros)), b_.add(sum.high, chosen(t, zeros, x))};
  }

  /// Scores of a block of queries for the keys of the same block.
  ValueId diagonal_scores(ValueId q, ValueId k) {
    const ValueId scaled = scaled_scores(q, k);
    if (b_.error()) return scaled;
    const int64_t last = b_.last_dim(scaled);
    const Shape shape = b_.shape(scaled);
    const ValueId seen =
        b_.compare(b_.iota(DType::kI32, shape, last - 1), b_.iota(DType::kI32, shape, last), "ge");
    return b_.select(seen, scaled, b_.full_like(scaled, -1e30));
  }

 private:
  int64_t block_dim() const { return static_cast<int64_t>(heads_) + 2; }

  ValueId reversed(ValueId x) {
    return b_.op(OpKind::reverse, {x}, attrs({{"dims", IntList{parts_dim()}}}));
  }

  Halves halves(ValueId x, const Sharding& s) {
    const int64_t parts = cut_.parts;
    const ValueId blocks = swapped(in_blocks(b_, x, length_dim(), 2 * parts, 0));
    if (b_.error()) return {};
    return {cut(b_.slice_dim(blocks, parts_dim(), 0, parts), s),
            cut(reversed(b_.slice_dim(blocks, parts_dim(), parts, 2 * parts)), s)};
  }
};

}  // namespace

bool is_balanced_ring(Builder& b, const RingCut& cut) {
  const RingSteps ring(b, cut);
  const IndexExpr& length = ring.queries();
  return ring.is_causal() && b.attributes().get_or<bool>("balanced", false) && length.is_const() &&
         length == ring.keys() && length.value() >= 2 * cut.parts;
}

Values balanced_ring_attention(Builder& b, const RingCut& cut) {
  using Sees = RingSteps::Sees;
  BalancedRing ring(b, cut);
  const Halves q = ring.query_halves(b.arg(0));
  Halves k = ring.key_halves(b.arg(1));
  Halves v = ring.key_halves(b.arg(2));
  PartialAttention low = ring.attention(q.low, k.low, v.low, Sees::kUpToItself);
  PartialAttention high = ring.joined(ring.attention(q.high, k.low, v.low, Sees::kAll),
                                      ring.attention(q.high, k.high, v.high, Sees::kUpToItself));
  if (b.error()) return Values(3);
  low.y = b.widened(low.y);
  for (int64_t t = 1; t < cut.parts; ++t) {
    k = ring.moved_on_halves(k);
    v = ring.moved_on_halves(v);
    high = ring.joined(high, ring.attention(q.high, k.low, v.low, Sees::kAll));
    const PartialAttention part =
        ring.attention(ring.chosen(t, q.low, q.high), ring.chosen(t, k.low, k.high),
                       ring.chosen(t, v.low, v.high), Sees::kAll);
    if (b.error()) return Values(3);
    const ValueId nothing = b.full_like(part.log_sums, -1e30);
    low = ring.joined(low, {part.y, ring.chosen(t, part.log_sums, nothing)});
    high = ring.joined(high, {part.y, ring.chosen(t, nothing, part.log_sums)});
  }
  const ValueId log_sums = ring.both({low.log_sums, high.log_sums});
  return {ring.whole({low.y, high.y}, b.dtype(b.arg(0))), log_sums, log_sums};
}

Values balanced_ring_gradient(Builder& b, const RingCut& cut) {
  enum : size_t { kY = 3, kLogSums = 4, kDy = 5 };
  BalancedRing ring(b, cut);
  const DType dtype = b.dtype(b.arg(0));
  const Halves q = ring.query_halves(b.arg(0));
  const Halves y = ring.query_halves(b.arg(kY));
  const Halves dy = ring.query_halves(b.arg(kDy));
  const Halves log_sums = ring.halves_of(b.arg(kLogSums));
  const RingQueries low = ring.queries_of(q.low, y.low, dy.low, log_sums.low);
  const RingQueries high = ring.queries_of(q.high, y.high, dy.high, log_sums.high);
  Halves k = ring.key_halves(b.arg(1));
  Halves v = ring.key_halves(b.arg(2));
  const auto pair = [&](const RingQueries& of, ValueId keys, ValueId values) {
    return ring.gradient(of, keys, values, ring.scaled_scores(of.q, keys));
  };
  const RingGradient own_low = ring.gradient(low, k.low, v.low, ring.diagonal_scores(low.q, k.low));
  const RingGradient own_high =
      ring.gradient(high, k.high, v.high, ring.diagonal_scores(high.q, k.high));
  const RingGradient across = pair(high, k.low, v.low);
  if (b.error()) return Values(3);
  Halves dq = {own_low.q, b.add(own_high.q, across.q)};
  Halves dk = {b.add(own_low.k, across.k), own_high.k};
  Halves dv = {b.add(own_low.v, across.v), own_high.v};
  for (int64_t t = 1; t < cut.parts; ++t) {
    for (Halves* moving : {&k, &v, &dk, &dv}) *moving = ring.moved_on_halves(*moving);
    const RingGradient first = pair(high, k.low, v.low);
    const RingQueries queries = {ring.chosen(t, low.q, high.q), ring.chosen(t, low.dy, high.dy),
                                 ring.chosen(t, low.sums, high.sums),
                                 ring.chosen(t, low.log_sums, high.log_sums)};
    const RingGradient second =
        pair(queries, ring.chosen(t, k.low, k.high), ring.chosen(t, v.low, v.high));
    if (b.error()) return Values(3);
    dq.high = b.add(dq.high, first.q);
    dk.low = b.add(dk.low, first.k);
    dv.low = b.add(dv.low, first.v);
    dq = ring.plus_chosen(t, dq, second.q);
    dk = ring.plus_chosen(t, dk, second.k);
    dv = ring.plus_chosen(t, dv, second.v);
  }
  dk = ring.moved_on_halves(dk);
  dv = ring.moved_on_halves(dv);
  dq = {ring.without_groups(dq.low), ring.without_groups(dq.high)};
  return {ring.whole(dq, dtype), ring.whole(dk, dtype), ring.whole(dv, dtype)};
}

}  // namespace hostir::ops
