#include "hostir/ops/composite.h"

namespace hostir {

namespace {

// Subtracts the maximum first, so that the exponential does not overflow.
ops::Values expand_softmax(ops::Builder& b) {
  const ValueId x = b.widened(b.arg(0));
  if (b.error()) return {x};
  const IntList dims = {ops::dim_of(b.attributes(), "dim", b.rank(x))};
  const Shape shape = b.shape(x);
  const ValueId largest = b.reduce(OpKind::reduce_max, x, dims);
  const ValueId e = b.exp(b.sub(x, b.unreduce(largest, dims, shape)));
  const ValueId y = b.div(e, b.unreduce(b.sum(e, dims), dims, shape));
  return {b.cast(y, b.dtype(b.arg(0)))};
}

ops::Values softmax_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const ValueId y = b.widened(b.result());
  const IntList dims = {ops::dim_of(b.attributes(), "dim", b.rank(b.arg(0)))};
  const ValueId weighted = b.mul(b.widened(dy[0]), y);
  if (b.error()) return {ValueId()};
  const ValueId sum = b.unreduce(b.sum(weighted, dims), dims, b.shape(y));
  return {b.cast(b.sub(weighted, b.mul(y, sum)), b.dtype(dy[0]))};
}

}  // namespace

OpRecord op_softmax() {
  return {
      .mnemonic = "softmax",
      .shape = OpShape::kComposite,
      .summary = "Exponentials that add up to 1 along one dimension.",
      .doc = {.shapes = "Any shape of rank 1 or more; the result has the same.",
              .sharding = "Other dimensions pass through. If dim is cut, ranks reduce only the "
                          "maximum and the sum, two tensors without dim; x is not gathered.",
              .dtypes = "Floats; 16- and 8-bit ones are computed in f32 and rounded once.",
              .cost = "Reads x and writes y once (bytes) when fused; about 12 flops per element."},
      .operands = {{.name = "x", .doc = "the operand"}},
      .attributes = {ops::dim_attribute("the dimension that is normalised")},
      .results = {{.name = "y", .doc = "exp(x - max) / sum exp(x - max)"}},
      .constraints = {{"softmax_c1", ops::kDim, ops::check_indexed_dim},
                      {"softmax_c2", ops::kFloat, ops::check_float}},
      .infer = ops::infer_like_first,
      .expand = expand_softmax,
      .cost = ops::composite_cost<12>,
      .gradient = "dx = y * (dy - sum(y * dy))",
      .vjp = softmax_vjp,
      .example = R"(fusion @f(%x: tensor<2x4xf32>) -> (%y: tensor<2x4xf32>) {
  %y = softmax %x
  return %y
})",
      .source = "torch.softmax; M. Milakov, N. Gimelshein, Online normalizer calculation, 2018",
  };
}

}  // namespace hostir
