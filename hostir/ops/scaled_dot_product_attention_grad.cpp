#include <fmt/core.h>

#include "hostir/ops/attention.h"

namespace hostir {

namespace {

enum GradOperand : size_t { kQ, kK, kV, kY, kWeights, kDy, kMask };

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
  const auto differs = [&](size_t operand, const Type& wanted) {
    const Type& given = call.operands[operand];
    Shape shape = shape_of(wanted);
    // Weights may have been declared in groups that turn out to have one head each.
    if (operand == kWeights && shape_of(given).size() > shape.size())
      shape = ops::in_groups(shape, shape.size() - 3, shape[shape.size() - 3]);
    return dtype_of(given) != dtype_of(wanted) || !ops::same_shape(shape_of(given), shape);
  };
  for (const size_t operand : {kY, kWeights, kDy}) {
    const Type& wanted = (*types)[operand == kWeights ? 1 : 0];
    if (!differs(operand, wanted)) continue;
    return Violation{fmt::format("the {} of attention are {}, the gradient got {}",
                                 operand == kWeights ? "weights" : "results", to_string(wanted),
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

ops::Values expand_gradient(ops::Builder& b) {
  return ops::attention_gradient(b, {b.arg(kWeights), b.arg(kDy), ValueId(), ValueId(),
                                     b.has_arg(kMask) ? b.arg(kMask) : ValueId()});
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
              .cost = "4 * S * T * (D + E) flops per head. Reads the weights (bytes)."},
      .operands = {{.name = "q", .doc = "queries"},
                   {.name = "k", .doc = "keys"},
                   {.name = "v", .doc = "values"},
                   {.name = "y", .doc = "the result of attention"},
                   {.name = "weights", .doc = "its weights"},
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
                       "y, weights and d_y have the types of its results.", check_results}},
      .infer = infer_gradient,
      .expand = expand_gradient,
      .expand_ring = ops::ring_attention_gradient,
      .cost = ops::composite_cost<200>,
      .gradient = "that of the ops it expands to",
      .example =
          R"(fusion @f(%q: tensor<2x6x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>, %d_y: tensor<2x6x8xf32>)
    -> (%d_q: tensor<2x6x8xf32>, %d_k: tensor<2x6x8xf32>, %d_v: tensor<2x6x8xf32>) {
  %y, %weights = scaled_dot_product_attention %q, %k, %v
  %d_q, %d_k, %d_v = scaled_dot_product_attention_grad %q, %k, %v, %y, %weights, %d_y
  return %d_q, %d_k, %d_v
})",
      .source = "T. Dao et al., FlashAttention, 2022, appendix B",
  };
}

}  // namespace hostir
