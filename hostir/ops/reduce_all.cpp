#include "hostir/ops/builder.h"
#include "hostir/ops/reduction.h"

namespace hostir {

namespace {

// Computed on the numbers 0 and 1, so that a partial result can be reduced.
ops::Values expand_reduce_all(ops::Builder& b) {
  const ValueId number = b.cast(b.arg(0), DType::kI32);
  const ValueId y = b.op(OpKind::reduce_min, {number}, b.attributes());
  return {b.cast(y, DType::kI1)};
}

}  // namespace

OpRecord op_reduce_all() {
  return {
      .mnemonic = "reduce_all",
      .shape = OpShape::kComposite,
      .summary = "1 where all elements are 1 along some dimensions.",
      .doc = {.shapes = ops::kReductionShapes,
              .sharding = "Dimensions that stay pass through; if a removed dimension is cut, the "
                          "ranks' results are reduced.",
              .dtypes = "i1 only.",
              .cost = ops::kReductionCost},
      .operands = {{.name = "x", .doc = "the operand"}},
      .attributes = ops::reduction_attributes(),
      .results = {{.name = "y", .doc = "i1"}},
      .constraints = {{"reduce_all_c1", ops::kReducedDims, ops::check_reduced_dims},
                      {"reduce_all_c2", ops::kBool, ops::check_i1}},
      .infer = ops::infer_reduction,
      .expand = expand_reduce_all,
      .cost = ops::reduction_cost,
      .gradient = "none: i1 has no derivative",
      .example = R"(fusion @f(%x: tensor<2x4xi1>) -> (%y: tensor<2xi1>) {
  %y = reduce_all %x {dims = [1]}
  return %y
})",
      .source = "torch.all, jax.numpy.all",
  };
}

}  // namespace hostir
