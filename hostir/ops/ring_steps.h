// What attention in a ring and in a balanced ring have in common; used by attention_ring.cpp and
// balanced_ring.cpp only.
//
// A dimension of length S is [parts, block] here, and `parts` is cut. Queries are
// [b.., parts, H, block, D], keys [b.., parts, G, block, D]: `parts` is one more batch dimension of
// an attention.
#pragma once

#include "hostir/ops/attention.h"

namespace hostir::ops {

/// Attention to some of the keys. The logarithm of the sum of its exponentials says how much it
/// counts in the whole (online softmax).
struct PartialAttention {
  ValueId y;
  ValueId log_sums;
};

/// Queries and what belongs to them in the gradient, with their heads in groups.
struct RingQueries {
  ValueId q;
  ValueId dy;
  ValueId sums;      // over the last dimension of dy * y
  ValueId log_sums;  // of the whole attention
};

/// What queries and keys of one step add to the gradient.
struct RingGradient {
  ValueId q;
  ValueId k;
  ValueId v;
};

class RingSteps {
 public:
  RingSteps(Builder& b, const RingCut& cut);

  const IndexExpr& queries() const { return queries_; }
  const IndexExpr& keys() const { return keys_; }
  bool is_causal() const { return b_.attributes().get_or<bool>("causal", false); }
  int64_t parts_dim() const { return static_cast<int64_t>(heads_); }
  int64_t length_dim() const { return static_cast<int64_t>(heads_) + 1; }

  /// [.., H, parts, block, n] and [.., parts, H, block, n] into each other.
  ValueId swapped(ValueId x);
  /// Annotates blocks with the cuts of their operand: batch and heads are cut like the operand's,
  /// `parts` is cut like its length.
  ValueId cut(ValueId x, const Sharding& operand);
  /// Every position gets the block of keys of the position before it.
  ValueId moved_on(ValueId x);
  /// True at positions whose number is at least `t`.
  ValueId is_from(int64_t t, const Shape& shape);

  /// Queries with their heads in groups.
  ValueId in_groups_of_heads(ValueId x);
  /// The reverse, for a tensor with one more dimension after the heads' and the block's.
  ValueId without_groups(ValueId x);
  RingQueries queries_of(ValueId q, ValueId y, ValueId dy, ValueId log_sums);

  enum class Sees : uint8_t { kAll, kUpToItself };
  /// Attention of blocks; the queries see all keys, or those up to their own place in the block.
  /// `exists`: which keys take part, if not all do.
  PartialAttention attention(ValueId q, ValueId k, ValueId v, Sees sees, ValueId exists = {});
  PartialAttention joined(const PartialAttention& a, const PartialAttention& b);
  /// The same, but it does not count where `counts` is false.
  ValueId masked_sums(ValueId log_sums, ValueId counts);

  ValueId scaled_scores(ValueId q, ValueId k);
  /// `scores` are scaled, and -1e30 for keys that a query does not see.
  RingGradient gradient(const RingQueries& of, ValueId k, ValueId v, ValueId scores);

 private:
  ValueId over_keys(ValueId x, ValueId y);
  ValueId over_queries(ValueId x, ValueId y);
  ValueId along(ValueId per_query, ValueId like);

 protected:
  Builder& b_;
  const RingCut& cut_;
  size_t heads_;  // the dimension of the heads in the operands
  bool grouped_ = false;
  IndexExpr queries_ = 0;
  IndexExpr keys_ = 0;
};

/// True if every position gets a block from the front of the length and its mirror image from the
/// back, so that causal attention gives all positions the same work.
bool is_balanced_ring(Builder& b, const RingCut& cut);
/// As ring_attention and ring_attention_gradient, for balanced rings.
Values balanced_ring_attention(Builder& b, const RingCut& cut);
Values balanced_ring_gradient(Builder& b, const RingCut& cut);

}  // namespace hostir::ops
