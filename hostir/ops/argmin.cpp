#include "hostir/ops/composite.h"

namespace hostir {

namespace {

ops::Values expand_argmin(ops::Builder& b) { return ops::expand_arg(b, OpKind::reduce_min); }

}  // namespace

OpRecord op_argmin() {
  return {
      .mnemonic = "argmin",
      .shape = OpShape::kComposite,
      .summary =
          "The index of the smallest element along one dimension; the first if several are equal.",
      .doc = {.shapes = "x of rank 1 or more; the result has the shape of x without dim.",
              .sharding =
                  "Other dimensions pass through. If dim is cut, ranks exchange only the minimum "
                  "and its position, two tensors without dim; x is not gathered.",
              .dtypes = "All but i1; the result is i32. The first NaN counts as the smallest.",
              .cost = "Reads x once (bytes) when fused; about 5 flops per element."},
      .operands = {{.name = "x", .doc = "the operand"}},
      .attributes = {ops::dim_attribute("the dimension to search")},
      .results = {{.name = "y", .doc = "positions along dim"}},
      .constraints = {{"argmin_c1", ops::kDim, ops::check_indexed_dim},
                      {"argmin_c2", ops::kNumeric, ops::check_numeric},
                      {"argmin_c3", ops::kSearchedDim, ops::check_searched_dim}},
      .infer = ops::infer_arg,
      .expand = expand_argmin,
      .cost = ops::composite_cost<5>,
      .gradient = "none: integers have no derivative",
      .example = R"(fusion @f(%x: tensor<2x4xf32>) -> (%y: tensor<2xi32>) {
  %y = argmin %x
  return %y
})",
      .source = "torch.argmin, numpy.argmin",
  };
}

}  // namespace hostir
