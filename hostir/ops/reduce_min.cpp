#include "hostir/ops/reduction.h"

namespace hostir {

OpRecord op_reduce_min() {
  return {
      .mnemonic = "reduce_min",
      .shape = OpShape::kReduction,
      .summary = "The smallest element along some dimensions.",
      .doc =
          {.shapes = ops::kReductionShapes,
           .sharding =
               "A partial min stays partial. A removed dimension that is cut leaves a partial min.",
           .dtypes = "All but i1.",
           .cost = ops::kReductionCost},
      .operands = {{.name = "x", .doc = "the operand", .partial = {.min = PartialUse::kAnyMix}}},
      .attributes = ops::reduction_attributes(),
      .results = {{.name = "y",
                   .doc = "the minima: NaN if any element is NaN; for no elements, the highest "
                          "value (inf for floats)"}},
      .constraints = {{"reduce_min_c1", ops::kReducedDims, ops::check_reduced_dims},
                      {"reduce_min_c2", ops::kNumeric, ops::check_numeric}},
      .infer = ops::infer_reduction,
      .rule = ops::reduction_rule<Reduction::kMin>,
      .cost = ops::reduction_cost,
      .fold = Reduction::kMin,
      .gradient = "dx = dy where x equals the minimum (shared evenly on ties)",
      .vjp = ops::extremum_vjp,
      .example = R"(fusion @f(%x: tensor<2x4xf32>) -> (%y: tensor<2xf32>) {
  %y = reduce_min %x {dims = [1]}
  return %y
})",
      .source = "StableHLO spec, reduce with minimum",
  };
}

}  // namespace hostir
