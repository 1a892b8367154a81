#include "hostir/ops/composite.h"

namespace hostir {

namespace {

Expected<std::vector<Type>> infer_argmax(const OpCall& call) {
  Shape shape = shape_of(call.operands[0]);
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(ops::indexed_dim(call)));
  return ops::inferred(ops::tensor(DType::kI32, std::move(shape)));
}

// The smallest index of the maximum. NaN counts as the maximum.
ops::Values expand_argmax(ops::Builder& b) {
  const ValueId x = b.arg(0);
  const int64_t dim = ops::dim_of(b.attributes(), "dim", b.rank(x));
  const IntList dims = {dim};
  const Shape shape = b.shape(x);
  const ValueId best = b.unreduce(b.reduce(OpKind::reduce_max, x, dims), dims, shape);
  ValueId found = b.compare(x, best, "eq");
  if (is_float(b.dtype(x))) found = b.op(OpKind::logical_or, {found, b.compare(x, x, "ne")});
  const ValueId places = b.iota(DType::kI32, shape, dim);
  const ValueId none = b.full_size(DType::kI32, shape, shape[static_cast<size_t>(dim)]);
  return {b.reduce(OpKind::reduce_min, b.select(found, places, none), dims)};
}

}  // namespace

OpRecord op_argmax() {
  return {
      .mnemonic = "argmax",
      .shape = OpShape::kComposite,
      .summary = "Where the largest element along one dimension is; the first of equal ones.",
      .doc = {.shapes = "x of rank 1 or more; the result is without dim.",
              .sharding = "Other dimensions pass through. Over a cut dim the maximum and the "
                          "position are reduced, two tensors without dim; x is not gathered.",
              .dtypes = "All but i1; the result is i32. The first NaN counts as the largest.",
              .errors = "argmax_c1: dim; argmax_c2: i1.",
              .cost = "Reads x once (bytes) when fused; about 5 flops per element."},
      .operands = {{.name = "x", .doc = "the operand"}},
      .attributes = {ops::dim_attribute("the dimension to search")},
      .results = {{.name = "y", .doc = "positions along dim"}},
      .constraints = {{"argmax_c1", ops::kDim, ops::check_indexed_dim},
                      {"argmax_c2", ops::kNumeric, ops::check_numeric}},
      .infer = infer_argmax,
      .expand = expand_argmax,
      .cost = ops::composite_cost<5>,
      .gradient = "none: integers have no derivative",
      .example = R"(fusion @f(%x: tensor<2x4xf32>) -> (%y: tensor<2xi32>) {
  %y = argmax %x
  return %y
})",
      .source = "torch.argmax, numpy.argmax",
  };
}

}  // namespace hostir
