#include <fmt/core.h>

#include "hostir/ops/composite.h"

namespace hostir {

namespace {

ops::Violated check_k(const OpCall& call) {
  if (ops::check_indexed_dim(call)) return std::nullopt;  // topk_c1
  const IndexExpr k = call.attributes.get_or<IndexExpr>("k", IndexExpr(0));
  const IndexExpr& size = shape_of(call.operands[0])[ops::indexed_dim(call)];
  if (!ops::is_below(k, 0) && !ops::is_below(size, k)) return std::nullopt;
  return Violation{fmt::format("topk takes {} of {} elements", k.to_string(), size.to_string())};
}

Expected<std::vector<Type>> infer_topk(const OpCall& call) {
  Shape shape = shape_of(call.operands[0]);
  shape[ops::indexed_dim(call)] = call.attributes.get_or<IndexExpr>("k", IndexExpr(0));
  return std::vector<Type>{ops::tensor(dtype_of(call.operands[0]), shape),
                           ops::tensor(DType::kI32, shape)};
}

ops::Values expand_topk(ops::Builder& b) {
  const int64_t dim = ops::dim_of(b.attributes(), "dim", b.rank(b.arg(0)));
  const IndexExpr k = b.attributes().get_or<IndexExpr>("k", IndexExpr(0));
  const ops::Values sorted =
      b.ops(OpKind::sort, {b.arg(0)}, ops::attrs({{"dim", dim}, {"descending", true}}), 2);
  return {b.slice_dim(sorted[0], dim, 0, k), b.slice_dim(sorted[1], dim, 0, k)};
}

}  // namespace

OpRecord op_topk() {
  return {
      .mnemonic = "topk",
      .shape = OpShape::kComposite,
      .summary =
          "The k largest elements along one dimension, the largest first, and where they "
          "are.",
      .doc = {.shapes = "x of rank 1 or more; both results have size k along dim.",
              .sharding = "Other dimensions pass through; dim is gathered first.",
              .dtypes = "Any; the indices are i32. Equal elements keep their order.",
              .cost = "That of sort."},
      .operands = {{.name = "x", .doc = "the operand"}},
      .attributes =
          {{.name = "k", .type = AttributeSpec::Type::kExpr, .doc = "how many", .required = true},
           ops::dim_attribute("the dimension to search")},
      .results = {{.name = "y", .doc = "the largest elements"},
                  {.name = "indices", .doc = "their positions in x", .optional = true}},
      .constraints = {{"topk_c1", ops::kDim, ops::check_indexed_dim},
                      {"topk_c2", "k is not negative and not more than the size of dim.", check_k}},
      .infer = infer_topk,
      .expand = expand_topk,
      .cost = ops::composite_cost<40>,
      .gradient = "that of sort and slice",
      .example =
          R"(fusion @f(%x: tensor<2x8xf32>) -> (%y: tensor<2x2xf32>, %at: tensor<2x2xi32>) {
  %y, %at = topk %x {k = 2}
  return %y, %at
})",
      .source = "torch.topk (sorted), jax.lax.top_k",
  };
}

}  // namespace hostir
