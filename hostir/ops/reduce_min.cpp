#include "hostir/ops/builder.h"
#include "hostir/ops/reduction.h"

namespace hostir {

namespace {

ops::Values reduce_min_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const IntList dims = b.attributes().get_or<IntList>("dims", {});
  const ValueId x = b.arg(0);
  const Shape shape = b.shape(x);
  const ValueId chosen = b.compare(x, b.unreduce(b.result(), dims, shape), "eq");
  const ValueId ties = b.sum(b.cast(chosen, b.dtype(x)), dims);
  const ValueId share = b.div(dy[0], b.reshape(ties, b.shape(dy[0])));
  return {b.select(chosen, b.unreduce(share, dims, shape), b.zeros_like(x))};
}

}  // namespace

OpRecord op_reduce_min() {
  return {
      .mnemonic = "reduce_min",
      .shape = OpShape::kReduction,
      .summary = "The smallest element along some dimensions.",
      .doc =
          {.shapes = ops::kReductionShapes,
           .sharding =
               "A partial min stays partial. A cut dimension that goes leaves a partial min.",
           .dtypes =
               "All but i1. 16-bit floats are accumulated in f32 and rounded once; integers wrap.",
           .errors = "reduce_min_c1: dims that are not there; reduce_min_c2: i1.",
           .cost = ops::kReductionCost},
      .operands = {{.name = "x", .doc = "the operand", .partial = {.min = PartialUse::kAnyMix}}},
      .attributes = ops::reduction_attributes(),
      .results =
          {{.name = "y",
            .doc =
                "the minima; the highest value (inf for floats) over no elements, NaN if any is"}},
      .constraints = {{"reduce_min_c1", ops::kReducedDims, ops::check_reduced_dims},
                      {"reduce_min_c2", ops::kNumeric, ops::check_numeric}},
      .infer = ops::infer_reduction,
      .rule = ops::reduction_rule<Reduction::kMin>,
      .cost = ops::reduction_cost,
      .gradient = "dx = dy where x equals the minimum (shared evenly on ties)",
      .vjp = reduce_min_vjp,
      .example = R"(fusion @f(%x: tensor<2x4xf32>) -> (%y: tensor<2xf32>) {
  %y = reduce_min %x {dims = [1]}
  return %y
})",
      .source = "StableHLO spec, reduce with minimum",
  };
}

}  // namespace hostir
