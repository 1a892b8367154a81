#include <fmt/core.h>

#include <cmath>

#include "hostir/ops/composite.h"

namespace hostir {

namespace {

// q [b.., H, S, D], k [b.., G, T, D], v [b.., G, T, E]; H is a multiple of G.
ops::Violated check_heads(const OpCall& call) {
  const Shape& q = shape_of(call.operands[0]);
  const Shape& k = shape_of(call.operands[1]);
  const Shape& v = shape_of(call.operands[2]);
  const auto differ = [&](int operand) {
    return Violation{fmt::format("attention of queries {}, keys {} and values {}: they are [.., "
                                 "heads, length, size]; batches, keys' length, queries' and keys' "
                                 "size and the heads of keys and values agree",
                                 ops::text(q), ops::text(k), ops::text(v)),
                     operand};
  };
  const size_t rank = q.size();
  if (rank < 3) return differ(0);
  if (k.size() != rank || !ops::same_size(k[rank - 1], q[rank - 1])) return differ(1);
  if (v.size() != rank || !ops::same_size(v[rank - 2], k[rank - 2]) ||
      !ops::same_size(v[rank - 3], k[rank - 3])) {
    return differ(2);
  }
  for (size_t d = 0; d + 3 < rank; ++d) {
    if (!ops::same_size(k[d], q[d])) return differ(1);
    if (!ops::same_size(v[d], q[d])) return differ(2);
  }
  return std::nullopt;
}

ops::Violated check_head_groups(const OpCall& call) {
  if (check_heads(call)) return std::nullopt;  // _c1
  const Shape& q = shape_of(call.operands[0]);
  const IndexExpr queries = q[q.size() - 3].simplified();
  const IndexExpr keys = shape_of(call.operands[1])[q.size() - 3].simplified();
  if (queries == keys) return std::nullopt;
  if (queries.is_const() && keys.is_const() && keys.value() > 0 &&
      queries.value() % keys.value() == 0) {
    return std::nullopt;
  }
  return Violation{fmt::format("{} heads of queries do not share {} heads of keys evenly",
                               queries.to_string(), keys.to_string()),
                   1};
}

Shape scores_shape(const Shape& q, const Shape& k) {
  Shape shape = q;
  shape.back() = k[k.size() - 2];
  return shape;
}

ops::Violated check_mask(const OpCall& call) {
  if (call.operands.size() < 4 || check_heads(call)) return std::nullopt;
  const Shape& mask = shape_of(call.operands[3]);
  const Shape scores = scores_shape(shape_of(call.operands[0]), shape_of(call.operands[1]));
  const DType dtype = dtype_of(call.operands[3]);
  bool fits = mask.size() <= scores.size() && (dtype == DType::kI1 || is_float(dtype));
  for (size_t d = 0; fits && d < mask.size(); ++d) {
    const IndexExpr& wide = scores[scores.size() - mask.size() + d];
    fits = ops::same_size(mask[d], wide) || ops::same_size(mask[d], 1);
  }
  if (fits) return std::nullopt;
  return Violation{
      fmt::format("the attention mask is {}, the scores are {}: the mask must be i1 or "
                  "floating-point and broadcast to the scores",
                  to_string(call.operands[3]), ops::text(scores)),
      3};
}

ops::Violated check_dtypes(const OpCall& call) {
  if (auto broken = ops::check_float(call)) return broken;
  for (int i = 1; i < 3; ++i) {
    if (dtype_of(call.operands[static_cast<size_t>(i)]) == dtype_of(call.operands[0])) continue;
    return Violation{"queries, keys and values of attention have different dtypes", i};
  }
  return std::nullopt;
}

Expected<std::vector<Type>> infer_attention(const OpCall& call) {
  Shape shape = shape_of(call.operands[0]);
  shape.back() = shape_of(call.operands[2]).back();
  return ops::inferred(ops::tensor(dtype_of(call.operands[0]), std::move(shape)));
}

// The scale, 1 / sqrt(D) unless the attribute is set, broadcast to the shape of `like`.
ValueId scale_like(ops::Builder& b, ValueId like) {
  if (const auto* scale = b.attributes().get<double>("scale")) return b.full_like(like, *scale);
  const IndexExpr size = b.shape(b.arg(0)).back().simplified();
  if (size.is_const()) {
    return b.full_like(like, 1 / std::sqrt(static_cast<double>(size.value())));
  }
  return b.broadcast_to(b.op(OpKind::rsqrt, {b.full_size(b.dtype(like), {}, size)}), b.shape(like));
}

// The shape of a tensor with heads at dimension `at`, which become [groups, heads/groups].
Shape in_groups(Shape shape, size_t at, const IndexExpr& groups) {
  const IndexExpr heads = shape[at];
  shape[at] = groups;
  const IndexExpr each = IndexExpr::binary(IndexExpr::Kind::kDiv, heads, groups).simplified();
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at) + 1, each);
  return shape;
}

// The mask, with its heads grouped like the heads of the scores.
ValueId grouped_mask(ops::Builder& b, const IndexExpr* groups) {
  const ValueId mask = b.arg(3);
  if (groups == nullptr || b.rank(mask) < 3) return mask;
  const size_t heads = b.rank(mask) - 3;
  const Shape shape = b.shape(mask);
  const bool alike = ops::same_size(shape[heads], 1);
  return b.reshape(mask, in_groups(shape, heads, alike ? IndexExpr(1) : *groups));
}

// Masked scores become a very low number, whose exponential is 0.
ValueId masked(ops::Builder& b, ValueId scores, const IndexExpr* groups) {
  const Shape shape = b.shape(scores);
  const auto rank = static_cast<int64_t>(shape.size());
  const ValueId lowest = b.full_like(scores, -1e30);
  if (b.attributes().get_or<bool>("causal", false)) {
    const ValueId query = b.iota(DType::kI32, shape, rank - 2);
    const ValueId key = b.iota(DType::kI32, shape, rank - 1);
    scores = b.select(b.compare(query, key, "ge"), scores, lowest);
  }
  if (!b.has_arg(3)) return scores;
  const ValueId mask = b.broadcast_to(grouped_mask(b, groups), shape);
  if (b.error()) return {};
  if (b.dtype(mask) == DType::kI1) return b.select(mask, scores, lowest);
  return b.add(scores, b.cast(mask, b.dtype(scores)));
}

// a[b.., G, R, S, k] with c[b.., G, ...], contracted over a's last dimension and c's `contracted`.
ValueId group_product(ops::Builder& b, ValueId a, ValueId c, int64_t contracted) {
  IntList batch = ops::all_dims(b.rank(c) - 2);
  return b.op(OpKind::dot_general, {a, c},
              ops::attrs({{"lhs_batch", batch},
                          {"rhs_batch", batch},
                          {"lhs_contracting", IntList{b.last_dim(a)}},
                          {"rhs_contracting", IntList{contracted}}}));
}

// Heads that share keys are a dimension of their own, so that groups, heads of a group and queries
// can each be cut.
ops::Values expand_attention(ops::Builder& b) {
  const ValueId k = b.arg(1);
  const ValueId v = b.arg(2);
  const Shape shape = b.shape(b.arg(0));
  const size_t heads = shape.size() - 3;
  const IndexExpr groups = b.shape(k)[heads];
  const bool grouped = !ops::same_size(shape[heads], groups);
  const ValueId q = grouped ? b.reshape(b.arg(0), in_groups(shape, heads, groups)) : b.arg(0);
  IntList swapped = ops::all_dims(shape.size());
  std::swap(swapped[heads + 1], swapped[heads + 2]);
  const ValueId products =
      grouped ? group_product(b, q, k, b.last_dim(k)) : b.matmul(q, b.transpose(k, swapped));
  ValueId scores = b.widened(products);
  if (b.error()) return {scores};
  scores = masked(b, b.mul(scores, scale_like(b, scores)), grouped ? &groups : nullptr);
  const ValueId weights = b.cast(b.op(OpKind::softmax, {scores}, {}, "weights"), b.dtype(q));
  if (b.error()) return {scores};
  const ValueId y =
      grouped ? group_product(b, weights, v, b.last_dim(v) - 1) : b.matmul(weights, v);
  Shape result = shape;
  result.back() = b.shape(v).back();
  return {b.reshape(y, result)};
}

}  // namespace

OpRecord op_scaled_dot_product_attention() {
  return {
      .mnemonic = "scaled_dot_product_attention",
      .shape = OpShape::kComposite,
      .summary =
          "Each query's mean of the values, weighted by the softmax of its products with "
          "the keys.",
      .doc =
          {.shapes = "q [b.., H, S, D], k [b.., G, T, D], v [b.., G, T, E] give [b.., H, S, E]; "
                     "H is a multiple of G (grouped queries). The mask widens to [b.., H, S, T].",
           .sharding =
               "Batch and heads pass through, and S of the queries: each rank knows the "
               "positions it holds. If T is cut, the softmax and the result are reduced. A cut D "
               "leaves partial scores. Grouped heads are cut at the borders of groups.",
           .dtypes = "Floats, the same for all; the softmax of 16- and 8-bit ones is computed in "
                     "f32. The mask is i1 (0: left out) or floating-point (added).",
           .cost =
               "2 * S * T * (D + E) flops per head. One kernel that reads q, k and v and writes "
               "y (bytes) if each rank holds all of its keys and nothing else needs the scores."},
      .operands = {{.name = "q", .doc = "queries"},
                   {.name = "k", .doc = "keys"},
                   {.name = "v", .doc = "values"},
                   {.name = "mask",
                    .doc = "i1: which keys take part; a float: added to the scores",
                    .arity = OperandSpec::Arity::kOptional}},
      .attributes = {{.name = "causal",
                      .type = AttributeSpec::Type::kBool,
                      .doc = "query i sees keys 0..i",
                      .fallback = Attribute(false)},
                     {.name = "scale",
                      .type = AttributeSpec::Type::kFloat,
                      .doc = "of the scores; 1/sqrt(D) if absent"}},
      .results = {{.name = "y", .doc = "softmax(q k^T * scale) v"}},
      .constraints = {{"scaled_dot_product_attention_c1",
                       "q, k and v are [.., heads, length, size] and fit together.", check_heads},
                      {"scaled_dot_product_attention_c2",
                       "The heads of q are a multiple of those of k.", check_head_groups},
                      {"scaled_dot_product_attention_c3",
                       "The mask is i1 or floating-point and widens to the scores.", check_mask},
                      {"scaled_dot_product_attention_c4",
                       "q, k and v are floating-point, of one dtype.", check_dtypes}},
      .infer = infer_attention,
      .expand = expand_attention,
      .cost = ops::composite_cost<100>,
      .gradient = "that of the ops it expands to",
      .example =
          R"(fusion @f(%q: tensor<2x4x6x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x8xf32>)
    -> (%y: tensor<2x4x6x8xf32>) {
  %y = scaled_dot_product_attention %q, %k, %v {causal = true}
  return %y
})",
      .source =
          "A. Vaswani et al., Attention is all you need, 2017; "
          "torch.nn.functional.scaled_dot_product_attention",
  };
}

}  // namespace hostir
