#include "hostir/ops/builder.h"
#include "hostir/ops/reduction.h"

namespace hostir {

namespace {

ops::Values reduce_prod_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const IntList dims = b.attributes().get_or<IntList>("dims", {});
  const ValueId x = b.arg(0);
  const Shape shape = b.shape(x);
  const ValueId zero = b.zeros_like(x);
  const ValueId is_zero = b.compare(x, zero, "eq");
  const ValueId factors = b.select(is_zero, b.full_like(x, 1), x);
  const ValueId product = b.reduce(OpKind::reduce_prod, factors, dims);
  const ValueId zeros = b.sum(b.cast(is_zero, DType::kI32), dims);
  const ValueId others =
      b.div(b.mul(b.unreduce(dy[0], dims, shape), b.unreduce(product, dims, shape)), factors);
  // The zeros among the other factors.
  const ValueId other_zeros = b.sub(b.unreduce(zeros, dims, shape), b.cast(is_zero, DType::kI32));
  return {b.select(b.compare(other_zeros, b.zeros_like(other_zeros), "eq"), others, zero)};
}

}  // namespace

OpRecord op_reduce_prod() {
  return {
      .mnemonic = "reduce_prod",
      .shape = OpShape::kReduction,
      .summary = "The product of the elements along some dimensions.",
      .doc = {.shapes = ops::kReductionShapes,
              .sharding = "A partial product stays partial. A removed dimension that is cut leaves "
                          "a partial product.",
              .dtypes = "All but i1. 16- and 8-bit floats are accumulated in f32 and rounded once; "
                        "integers wrap.",
              .cost = ops::kReductionCost},
      .operands = {{.name = "x",
                    .doc = "the operand",
                    .partial = {.prod = PartialUse::kOthersWhole}}},
      .attributes = ops::reduction_attributes(),
      .results = {{.name = "y", .doc = "the products; 1 over no elements"}},
      .constraints = {{"reduce_prod_c1", ops::kReducedDims, ops::check_reduced_dims},
                      {"reduce_prod_c2", ops::kNumeric, ops::check_numeric}},
      .infer = ops::infer_reduction,
      .rule = ops::reduction_rule<Reduction::kProd>,
      .cost = ops::reduction_cost,
      .fold = Reduction::kProd,
      .gradient = "dx = dy * the product of the other factors",
      .vjp = reduce_prod_vjp,
      .example = R"(fusion @f(%x: tensor<2x4xf32>) -> (%y: tensor<2xf32>) {
  %y = reduce_prod %x {dims = [1]}
  return %y
})",
      .source = "StableHLO spec, reduce with multiply",
  };
}

}  // namespace hostir
