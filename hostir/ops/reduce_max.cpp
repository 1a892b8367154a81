#include "hostir/ops/reduction.h"

namespace hostir {

OpRecord op_reduce_max() {
  return {
      .mnemonic = "reduce_max",
      .shape = OpShape::kReduction,
      .summary = "The largest element along some dimensions.",
      .doc =
          {.shapes = ops::kReductionShapes,
           .sharding =
               "A partial max stays partial. A removed dimension that is cut leaves a partial max.",
           .dtypes = "All but i1.",
           .cost = ops::kReductionCost},
      .operands = {{.name = "x", .doc = "the operand", .partial = {.max = PartialUse::kAnyMix}}},
      .attributes = ops::reduction_attributes(),
      .results = {{.name = "y",
                   .doc =
                       "the maxima: NaN if any element is NaN; for no elements, the lowest value "
                       "(-inf for floats)"}},
      .constraints = {{"reduce_max_c1", ops::kReducedDims, ops::check_reduced_dims},
                      {"reduce_max_c2", ops::kNumeric, ops::check_numeric}},
      .infer = ops::infer_reduction,
      .rule = ops::reduction_rule<Reduction::kMax>,
      .cost = ops::reduction_cost,
      .fold = Reduction::kMax,
      .gradient = "dx = dy where x equals the maximum (shared evenly on ties)",
      .vjp = ops::extremum_vjp,
      .example = R"(fusion @f(%x: tensor<2x4xf32>) -> (%y: tensor<2xf32>) {
  %y = reduce_max %x {dims = [1]}
  return %y
})",
      .source = "StableHLO spec, reduce with maximum",
  };
}

}  // namespace hostir
