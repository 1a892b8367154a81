#include <algorithm>

#include "hostir/ops/written.h"

namespace hostir {

namespace {

// Nothing is known about which elements depend on which, so nothing may be cut. With the guess,
// operands of the result's shape may be cut as the result is.
Expected<ShardingRule> opaque_rule(const OpCall& call, std::span<const Type> results) {
  ShardingRule r;
  const Shape& made = shape_of(results[0]);
  const bool guesses = call.attributes.get_or<bool>("as_operands", false);
  const auto is_like = [&](const Type& type) { return guesses && shape_of(type) == made; };
  const bool any_like = std::any_of(call.operands.begin(), call.operands.end(), is_like);
  if (any_like) r.factor_sizes = made;
  const auto whole = [&](const Shape& shape) {
    const size_t first = r.factor_sizes.size();
    for (const IndexExpr& size : shape) {
      r.replicated.push_back(r.factor_count());
      r.factor_sizes.push_back(size);
    }
    return ops::one_to_one(first, shape.size());
  };
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const bool like = is_like(call.operands[i]);
    r.operands.push_back(like ? ops::one_to_one(0, made.size())
                              : whole(shape_of(call.operands[i])));
  }
  r.results = {any_like ? ops::one_to_one(0, made.size()) : whole(made)};
  return r;
}

}  // namespace

OpRecord op_opaque() {
  return {
      .mnemonic = "opaque",
      .shape = OpShape::kIndexed,
      .summary =
          "An operation known only by name and types, computed only by a kernel from outside.",
      .doc = {.shapes = "The written type's.",
              .sharding =
                  "Operands and result are replicated: nothing says which elements depend on "
                  "which. With `as_operands`, the result is cut as the operands of its shape "
                  "are: a guess.",
              .dtypes = "Any.",
              .cost = "Reads the operands and writes y once (bytes); no flops."},
      .operands = {{.name = "operands",
                    .doc = "the operands of the operation",
                    .arity = OperandSpec::Arity::kVariadic}},
      .attributes = {{.name = "name",
                      .type = AttributeSpec::Type::kString,
                      .doc = "the operation in the program that it comes from",
                      .required = true},
                     {.name = "result",
                      .type = AttributeSpec::Type::kInt,
                      .doc = "the index of this result, if the operation has several",
                      .fallback = Attribute(int64_t{0})},
                     {.name = "as_operands",
                      .type = AttributeSpec::Type::kBool,
                      .doc = "guess that each part of the result needs only the same parts of the "
                             "operands of its shape",
                      .fallback = Attribute(false)}},
      .results = {{.name = "y", .doc = "the result"}},
      .constraints = {{"opaque_c1", ops::kWritten, ops::check_written}},
      .infer = ops::infer_written,
      .rule = opaque_rule,
      .cost = ops::pointwise_cost<0>,
      .gradient = "none: the operation is unknown",
      .example = R"(fusion @f(%x: tensor<4x4xf32>) -> (%y: tensor<4xf32>) {
  %y = opaque %x {name = "eigenvalues"} : tensor<4xf32>
  return %y
})",
      .source = "custom_call of the StableHLO spec",
  };
}

}  // namespace hostir
