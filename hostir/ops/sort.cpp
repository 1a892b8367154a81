#include "hostir/ops/indexed.h"

namespace hostir {

namespace {

Expected<std::vector<Type>> infer_sort(const OpCall& call) {
  const Shape& shape = shape_of(call.operands[0]);
  return std::vector<Type>{ops::tensor(dtype_of(call.operands[0]), shape),
                           ops::tensor(DType::kI32, shape)};
}

Expected<ShardingRule> sort_rule(const OpCall& call, std::span<const Type> results) {
  HOSTIR_ASSIGN_OR_RETURN(ShardingRule r, ops::pointwise_rule(call, results));
  r.replicated = {static_cast<int>(ops::indexed_dim(call))};
  return r;
}

Cost sort_cost(const OpCall& call, std::span<const Extents> operands,
               std::span<const Extents> results) {
  constexpr double kFlopsPerElement = 40;  // comparisons per element: about log2 of a long row
  return ops::memory_cost(call, operands, results,
                          kFlopsPerElement * ops::element_count_of(operands[0]));
}

ops::Values sort_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  if (!dy[0].valid()) return {ValueId()};
  const int64_t dim = ops::dim_of(b.attributes(), "dim", b.rank(b.arg(0)));
  const IndexExpr size = b.shape(b.arg(0))[static_cast<size_t>(dim)];
  return {
      b.op(OpKind::put_along, {dy[0], b.result(1)}, ops::attrs({{"dim", dim}, {"size", size}}))};
}

}  // namespace

OpRecord op_sort() {
  return {
      .mnemonic = "sort",
      .shape = OpShape::kIndexed,
      .summary = "The elements in order along one dimension, and the original position of each.",
      .doc = {.shapes = "Any shape of rank 1 or more; both results have the same.",
              .sharding = "Other dimensions pass through; dim is gathered first.",
              .dtypes = "Any; the indices are i32. Equal elements keep their order; NaN counts as "
                        "larger than everything.",
              .cost = "Reads x and writes both results once (bytes); about 40 flops per element."},
      .operands = {{.name = "x", .doc = "the operand"}},
      .attributes = {ops::dim_attribute("the dimension to sort"),
                     {.name = "descending",
                      .type = AttributeSpec::Type::kBool,
                      .doc = "the largest first",
                      .fallback = Attribute(false)}},
      .results = {{.name = "y", .doc = "the elements in order"},
                  {.name = "indices", .doc = "their positions in x", .optional = true}},
      .constraints = {{"sort_c1", ops::kDim, ops::check_indexed_dim}},
      .infer = infer_sort,
      .rule = sort_rule,
      .cost = sort_cost,
      .gradient = "dx = put_along dy at the indices",
      .vjp = sort_vjp,
      .example =
          R"(fusion @f(%x: tensor<2x3xf32>) -> (%y: tensor<2x3xf32>, %at: tensor<2x3xi32>) {
  %y, %at = sort %x {descending = true}
  return %y, %at
})",
      .source = "torch.sort (stable); StableHLO spec, sort",
  };
}

}  // namespace hostir
