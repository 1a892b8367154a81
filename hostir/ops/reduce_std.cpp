#include "hostir/ops/variance.h"

namespace hostir {

namespace {

ops::Values expand_std(ops::Builder& b) {
  const ValueId variance = b.op(OpKind::reduce_var, {b.widened(b.arg(0))}, b.attributes());
  return {b.cast(b.op(OpKind::sqrt, {variance}), b.dtype(b.arg(0)))};
}

}  // namespace

OpRecord op_reduce_std() {
  return {
      .mnemonic = "reduce_std",
      .shape = OpShape::kComposite,
      .summary = "The standard deviation of the elements along some dimensions.",
      .doc = {.shapes = ops::kReductionShapes,
              .sharding = "As reduce_var.",
              .dtypes = "Floats; 16- and 8-bit ones are computed in f32 and rounded once.",
              .cost = "As reduce_var."},
      .operands = {{.name = "x", .doc = "the operand"}},
      .attributes = ops::variance_attributes(),
      .results = {{.name = "y", .doc = "the square root of reduce_var"}},
      .constraints = {{"reduce_std_c1", ops::kReducedDims, ops::check_reduced_dims},
                      {"reduce_std_c2", ops::kFloat, ops::check_float}},
      .infer = ops::infer_reduction,
      .expand = expand_std,
      .cost = ops::reduction_cost,
      .gradient = "that of the ops it expands to",
      .example = R"(fusion @f(%x: tensor<2x4xf32>) -> (%y: tensor<2xf32>) {
  %y = reduce_std %x {dims = [1]}
  return %y
})",
      .source = "torch.std",
  };
}

}  // namespace hostir
