// Shared by scaled_dot_product_attention, its gradient, and both in a ring.
//
// Operands 0, 1 and 2 of both ops are q [b.., H, S, D], k [b.., G, T, D] and v [b.., G, T, E]. With
// grouped queries, H is split into [G, H/G].
#pragma once

#include "hostir/ops/composite.h"

namespace hostir::ops {

/// The scale, 1 / sqrt(D) unless the attribute is set, broadcast to the shape of `like`.
ValueId attention_scale(Builder& b, ValueId like);
/// The shape of a tensor with heads at dimension `at`, which become [groups, heads/groups].
Shape in_groups(Shape shape, size_t at, const IndexExpr& groups);
/// A tensor of queries with its heads in groups; itself if each head has its own keys.
ValueId by_groups(Builder& b, ValueId queries);
/// The mask, with its heads grouped like those of the scores.
ValueId grouped_mask(Builder& b, ValueId mask);
/// x [.., m, n] as [.., n, m].
ValueId matrices_transposed(Builder& b, ValueId x);
/// a[b.., G, R, S, k] with c[b.., G, ...], contracted over a's last dimension and c's `contracted`.
ValueId group_product(Builder& b, ValueId a, ValueId c, int64_t contracted);

/// The scaled products of queries, with their heads in groups, and keys, in f32 for narrower
/// floats. A key that a query does not see has a very low score, whose exponential is 0.
ValueId attention_scores(Builder& b, ValueId q, ValueId mask);

struct AttentionWeights {
  ValueId weights;   // the softmax of the scores
  ValueId log_sums;  // per query, the logarithm of the sum of their exponentials
};
AttentionWeights attention_weights(Builder& b, ValueId scores);

/// What the gradient is computed from, besides q, k and v. An invalid value is absent; a cotangent
/// that is absent is zero.
struct AttentionCotangents {
  ValueId weights;
  ValueId y;  // spares a sum over the keys if only y has a cotangent
  ValueId dy;
  ValueId d_weights;
  ValueId d_log_sums;
  ValueId mask;
};
/// dq, dk, dv, and the cotangent of a mask that is added.
Values attention_gradient(Builder& b, AttentionCotangents of);

/// OpRecord::expand_ring of both ops. Attention returns for its weights the logarithm of their
/// denominators, which the gradient uses.
Values ring_attention(Builder& b, const RingCut& cut);
Values ring_attention_gradient(Builder& b, const RingCut& cut);

}  // namespace hostir::ops
