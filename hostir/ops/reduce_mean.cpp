#include "hostir/ops/builder.h"
#include "hostir/ops/reduction.h"

namespace hostir {

namespace {

IndexExpr reduced_count(const Shape& shape, const IntList& dims) {
  Shape reduced;
  for (const int64_t d : dims) reduced.push_back(shape[static_cast<size_t>(d)]);
  return ops::product(reduced);
}

// Sums, then divides, so that a reduce can go between and only whole sums are divided. narrow
// floats compute in f32: counts are exact and the result is rounded once.
ops::Values expand_reduce_mean(ops::Builder& b) {
  const ValueId x = b.arg(0);
  const IntList dims = b.attributes().get_or<IntList>("dims", {});
  const ValueId sum = b.op(OpKind::reduce_sum, {b.widened(x)}, b.attributes());
  if (!sum.valid()) return {sum};
  const ValueId count = b.full_size(b.dtype(sum), b.shape(sum), reduced_count(b.shape(x), dims));
  return {b.cast(b.div(sum, count), b.dtype(x))};
}

ops::Values reduce_mean_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const ValueId x = b.arg(0);
  const IntList dims = b.attributes().get_or<IntList>("dims", {});
  const ValueId count =
      b.full_size(b.dtype(dy[0]), b.shape(dy[0]), reduced_count(b.shape(x), dims));
  return {b.unreduce(b.div(dy[0], count), dims, b.shape(x))};
}

bool reduce_mean_needs_expand(const OpCall&) { return true; }

}  // namespace

OpRecord op_reduce_mean() {
  return {
      .mnemonic = "reduce_mean",
      .shape = OpShape::kReduction,
      .summary = "The mean of the elements along some dimensions.",
      .doc = {.shapes = ops::kReductionShapes,
              .sharding = "Linear: a partial sum stays partial. If a removed dimension is cut, the "
                          "ranks' sums are reduced, then divided by the global count.",
              .dtypes = "Floats; 16- and 8-bit ones are accumulated in f32 and rounded once.",
              .cost = ops::kReductionCost},
      .operands = {{.name = "x", .doc = "the operand", .partial = ops::kLinear}},
      .attributes = ops::reduction_attributes(),
      .results = {{.name = "y", .doc = "the means; NaN over no elements"}},
      .constraints = {{"reduce_mean_c1", ops::kReducedDims, ops::check_reduced_dims},
                      {"reduce_mean_c2", ops::kFloat, ops::check_float}},
      .infer = ops::infer_reduction,
      .rule = ops::reduction_rule<Reduction::kSum>,
      .expand = expand_reduce_mean,
      .needs_expand = reduce_mean_needs_expand,
      .cost = ops::reduction_cost,
      .fold = Reduction::kAvg,
      .gradient = "dx = dy / n broadcast over dims, n = the number of elements in each mean",
      .vjp = reduce_mean_vjp,
      .example = R"(fusion @f(%x: tensor<2x4xf32>) -> (%y: tensor<2xf32>) {
  %y = reduce_mean %x {dims = [1]}
  return %y
})",
      .source = "torch.mean; the uneven case after PyTorch issue 162692",
  };
}

}  // namespace hostir
