#include "hostir/ops/builder.h"
#include "hostir/ops/reduction.h"

namespace hostir {

namespace {

ops::Values reduce_sum_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const IntList dims = b.attributes().get_or<IntList>("dims", {});
  return {b.unreduce(dy[0], dims, b.shape(b.arg(0)))};
}

}  // namespace

OpRecord op_reduce_sum() {
  return {
      .mnemonic = "reduce_sum",
      .shape = OpShape::kReduction,
      .summary = "The sum of the elements along some dimensions.",
      .doc = {.shapes = ops::kReductionShapes,
              .sharding = "Linear: a partial sum stays partial. A removed dimension that is cut "
                          "leaves a partial sum.",
              .dtypes = "All but i1. 16- and 8-bit floats are accumulated in f32 and rounded once; "
                        "integers wrap.",
              .cost = ops::kReductionCost},
      .operands = {{.name = "x",
                    .doc = "the operand",
                    .partial = {.sum = PartialUse::kOthersWhole}}},
      .attributes = ops::reduction_attributes(),
      .results = {{.name = "y", .doc = "the sums; 0 over no elements"}},
      .constraints = {{"reduce_sum_c1", ops::kReducedDims, ops::check_reduced_dims},
                      {"reduce_sum_c2", ops::kNumeric, ops::check_numeric}},
      .infer = ops::infer_reduction,
      .rule = ops::reduction_rule<Reduction::kSum>,
      .cost = ops::reduction_cost,
      .fold = Reduction::kSum,
      .gradient = "dx = dy broadcast over dims",
      .vjp = reduce_sum_vjp,
      .example = R"(fusion @f(%x: tensor<2x4xf32>) -> (%y: tensor<2xf32>) {
  %y = reduce_sum %x {dims = [1]}
  return %y
})",
      .source = "StableHLO spec, reduce with add",
  };
}

}  // namespace hostir
