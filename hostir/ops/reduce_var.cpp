#include "hostir/ops/variance.h"

namespace hostir {

OpRecord op_reduce_var() {
  return {
      .mnemonic = "reduce_var",
      .shape = OpShape::kComposite,
      .summary = "The variance of the elements along some dimensions.",
      .doc = {.shapes = ops::kReductionShapes,
              .sharding = "Kept dimensions pass through. If a removed dimension is cut, the means "
                          "and the sums of squares are reduced, in two steps; x is not gathered.",
              .dtypes = "Floats; 16- and 8-bit ones are computed in f32 and rounded once.",
              .cost = "Reads x twice and writes y once (bytes); about 4 flops per element of x."},
      .operands = {{.name = "x", .doc = "the operand"}},
      .attributes = ops::variance_attributes(),
      .results = {{.name = "y", .doc = "sum of (x - mean)^2 / max(0, n - correction)"}},
      .constraints = {{"reduce_var_c1", ops::kReducedDims, ops::check_reduced_dims},
                      {"reduce_var_c2", ops::kFloat, ops::check_float}},
      .infer = ops::infer_reduction,
      .expand = ops::expand_variance,
      .cost = ops::reduction_cost,
      .gradient = "that of the ops it expands to",
      .example = R"(fusion @f(%x: tensor<2x4xf32>) -> (%y: tensor<2xf32>) {
  %y = reduce_var %x {dims = [1]}
  return %y
})",
      .source = "torch.var; two passes, as a sum of squares minus a square of sums cancels",
  };
}

}  // namespace hostir
