#include <fmt/core.h>

#include "hostir/ops/attention.h"

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

// Symbolic numbers of heads are checked again when sizes are bound.
ops::Violated check_head_groups(const OpCall& call) {
  if (check_heads(call)) return std::nullopt;  // _c1
  const Shape& q = shape_of(call.operands[0]);
  const IndexExpr queries = q[q.size() - 3].simplified();
  const IndexExpr keys = shape_of(call.operands[1])[q.size() - 3].simplified();
  if (queries == keys || !queries.is_const() || !keys.is_const()) return std::nullopt;
  if (keys.value() > 0 && queries.value() % keys.value() == 0) return std::nullopt;
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
  const Shape& q = shape_of(call.operands[0]);
  const Shape& k = shape_of(call.operands[1]);
  const DType dtype = dtype_of(call.operands[0]);
  Shape shape = q;
  shape.back() = shape_of(call.operands[2]).back();
  const size_t heads = q.size() - 3;
  Shape weights = scores_shape(q, k);
  // Where sizes were bound later, weights keep the groups although each has one head.
  const bool has_groups = call.written.size() > 1 && is_tensor(call.written[1]) &&
                          shape_of(call.written[1]).size() > weights.size();
  if (has_groups || !ops::same_size(q[heads], k[heads]))
    weights = ops::in_groups(weights, heads, k[heads]);
  const DType wide = is_narrow_float(dtype) ? DType::kF32 : dtype;
  Shape sums = q;
  sums.pop_back();
  return std::vector<Type>{ops::tensor(dtype, std::move(shape)), ops::tensor(wide, weights),
                           ops::tensor(wide, std::move(sums))};
}

// Heads that share keys are a dimension of their own, so that groups, heads of a group and queries
// can each be cut.
ops::Values expand_attention(ops::Builder& b) {
  const ValueId v = b.arg(2);
  const ValueId q = ops::by_groups(b, b.arg(0));
  const bool grouped = q != b.arg(0);
  const ValueId scores = ops::attention_scores(b, q, b.has_arg(3) ? b.arg(3) : ValueId());
  const auto [weights, log] = ops::attention_weights(b, scores);
  const ValueId shares = b.cast(weights, b.dtype(q));
  if (b.error()) return ops::Values(3, weights);
  Shape sums_shape = b.shape(b.arg(0));
  sums_shape.pop_back();
  const ValueId log_sums = b.reshape(log, sums_shape);
  const ValueId y =
      grouped ? ops::group_product(b, shares, v, b.last_dim(v) - 1) : b.matmul(shares, v);
  Shape result = b.shape(b.arg(0));
  result.back() = b.shape(v).back();
  return {b.reshape(y, result), weights, log_sums};
}

// One op for the gradient, so that a device or a ring can compute it without the weights.
ops::Values attention_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const bool has_mask = b.has_arg(3);
  const ValueId mask = has_mask ? b.arg(3) : ValueId();
  const bool adds_mask = has_mask && is_float(b.dtype(mask));
  ops::Values grads;
  if (dy[1].valid() || dy[2].valid()) {
    grads = ops::attention_gradient(b, {b.result(1), {}, dy[0], dy[1], dy[2], mask});
  } else {
    ops::Values operands = {b.arg(0), b.arg(1), b.arg(2), b.result(0), b.result(2), dy[0]};
    if (has_mask) operands.push_back(mask);
    grads = b.ops(OpKind::scaled_dot_product_attention_grad, operands, b.attributes(),
                  adds_mask ? 4 : 3, "grad");
  }
  grads.resize(has_mask ? 4 : 3);
  return grads;
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
               "positions it holds. If T is cut, the softmax and the result are reduced, or, with "
               "--overlap, keys and values travel in a ring. A cut D leaves partial scores. "
               "Grouped heads are cut at the borders of groups.",
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
                      .doc = "of the scores; 1/sqrt(D) if absent"},
                     {.name = "balanced",
                      .type = AttributeSpec::Type::kBool,
                      .doc = "in a ring, causal attention gives every rank the same work",
                      .fallback = Attribute(false)}},
      .results = {{.name = "y", .doc = "softmax(q k^T * scale) v"},
                  {.name = "weights",
                   .doc = "softmax(q k^T * scale), in f32 for narrower floats; with grouped "
                          "queries [b.., G, H/G, S, T]",
                   .optional = true},
                  {.name = "log_sums",
                   .doc = "[b.., H, S], the logarithms of the sums of exponentials: with them, the "
                          "results for parts of the keys can be joined",
                   .optional = true}},
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
      .expand_ring = ops::ring_attention,
      .cost = ops::composite_cost<100>,
      .gradient = "scaled_dot_product_attention_grad",
      .vjp = attention_vjp,
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
