#include <fmt/core.h>

#include "hostir/ops/attention.h"

namespace hostir {

namespace {

enum GradOperand : size_t { kQ, kK, kV, kY, kLogSums, kDy, kMask };

std::vector<Type> operands_of_attention(const OpCall& call) {
  std::vector<Type> operands(call.operands.begin(), call.operands.begin() + kY);
  if (call.operands.size() > kMask) operands.push_back(call.operands[kMask]);
  return operands;
}

ops::Violated check_forward(const OpCall& call) {
  const std::vector<Type> operands = operands_of_attention(call);
  const OpCall attention{.kind = OpKind::scaled_dot_product_attention,
                         .operands = operands,
                         .attributes = call.attributes};
  for (const Constraint& c : record(attention.kind).constraints) {
    if (auto broken = c.check(attention)) {
      if (broken->operand == 3) broken->operand = kMask;
      return broken;
    }
  }
  return std::nullopt;
}

ops::Violated check_results(const OpCall& call) {
  if (check_forward(call)) return std::nullopt;  // _c1
  const std::vector<Type> operands = operands_of_attention(call);
  const auto types = record(OpKind::scaled_dot_product_attention)
                         .infer({.kind = OpKind::scaled_dot_product_attention,
                                 .operands = operands,
                                 .attributes = call.attributes});
  if (!types) return std::nullopt;
  for (const size_t operand : {kY, kLogSums, kDy}) {
    const Type& given = call.operands[operand];
    const Type& wanted = (*types)[operand == kLogSums ? 2 : 0];
    if (dtype_of(given) == dtype_of(wanted) && ops::same_shape(shape_of(given), shape_of(wanted)))
      continue;
    return Violation{fmt::format("the {} of attention are {}, the gradient got {}",
                                 operand == kLogSums ? "log_sums" : "results", to_string(wanted),
                                 to_string(call.operands[operand])),
                     static_cast<int>(operand)};
  }
  return std::nullopt;
}

Expected<std::vector<Type>> infer_gradient(const OpCall& call) {
  std::vector<Type> out;
  for (const size_t operand : {kQ, kK, kV, kMask}) {
    if (operand >= call.operands.size()) continue;
    out.push_back(ops::tensor(dtype_of(call.operands[operand]), shape_of(call.operands[operand])));
  }
  return out;
}

// Computes the weights again, from the logarithms of their sums. With a mask, a query may see no
// key; its logarithm is then too coarse, so the sums are computed again, too.
ops::Values expand_gradient(ops::Builder& b) {
  const ValueId mask = b.has_arg(kMask) ? b.arg(kMask) : ValueId();
  const ValueId scores = ops::attention_scores(b, ops::by_groups(b, b.arg(kQ)), mask);
  if (b.error()) return ops::Values(4);
  const auto weights = [&] {
    if (mask.valid()) return ops::attention_weights(b, scores).weights;
    const ValueId log_sums = ops::by_groups(b, b.arg(kLogSums));
    return b.exp(b.sub(scores, b.unreduce(log_sums, {b.last_dim(scores)}, b.shape(scores))));
  };
  return ops::attention_gradient(b, {weights(), b.arg(kY), b.arg(kDy), {}, {}, mask});
}

}  // namespace

OpRecord op_scaled_dot_product_attention_grad() {
  return {
      .mnemonic = "scaled_dot_product_attention_grad",
      .shape = OpShape::kComposite,
      .summary = "The cotangents of the operands of scaled_dot_product_attention.",
      .doc = {.shapes = "Those of scaled_dot_product_attention; each result has its operand's.",
              .sharding =
                  "Like scaled_dot_product_attention. If the queries are cut, the results for "
                  "keys and values are partial, or, with --overlap, travel in a ring.",
              .dtypes = "Floats; the softmax of 16- and 8-bit ones is differentiated in f32.",
              .cost =
                  "S * T * (6 * D + 4 * E) flops per head: the weights are computed again. One "
                  "kernel that reads the operands and writes the results (bytes), as attention."},
      .operands = {{.name = "q", .doc = "queries"},
                   {.name = "k", .doc = "keys"},
                   {.name = "v", .doc = "values"},
                   {.name = "y", .doc = "the result of attention"},
                   {.name = "log_sums", .doc = "the logarithms of its sums"},
                   {.name = "d_y", .doc = "the cotangent of y"},
                   {.name = "mask",
                    .doc = "as in attention",
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
      .results = {{.name = "d_q", .doc = "the cotangent of q"},
                  {.name = "d_k", .doc = "the cotangent of k"},
                  {.name = "d_v", .doc = "the cotangent of v"},
                  {.name = "d_mask",
                   .doc = "the cotangent of a mask that is added",
                   .optional = true}},
      .constraints = {{"scaled_dot_product_attention_grad_c1",
                       "q, k, v and mask fit scaled_dot_product_attention.", check_forward},
                      {"scaled_dot_product_attention_grad_c2",
                       "y, log_sums and d_y have the types of its results.", check_results}},
      .infer = infer_gradient,
      .expand = expand_gradient,
      .expand_ring = ops::ring_attention_gradient,
      .cost = ops::composite_cost<200>,
      .gradient = "that of the ops it expands to",
      .example =
          R"(fusion @f(%q: tensor<2x6x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>, %d_y: tensor<2x6x8xf32>)
    -> (%d_q: tensor<2x6x8xf32>, %d_k: tensor<2x6x8xf32>, %d_v: tensor<2x6x8xf32>) {
  %y, %weights, %log_sums = scaled_dot_product_attention %q, %k, %v
  %d_q, %d_k, %d_v = scaled_dot_product_attention_grad %q, %k, %v, %y, %log_sums, %d_y
  return %d_q, %d_k, %d_v
})",
      .source = "T. Dao et al., FlashAttention, 2022, appendix B",
  };
}

}  // namespace hostir
