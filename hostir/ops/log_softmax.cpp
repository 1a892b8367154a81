#include "hostir/ops/composite.h"

namespace hostir {

namespace {

ops::Values expand_log_softmax(ops::Builder& b) {
  const ValueId x = b.widened(b.arg(0));
  if (b.error()) return {x};
  const IntList dims = {ops::dim_of(b.attributes(), "dim", b.rank(x))};
  const Shape shape = b.shape(x);
  const ValueId largest = b.reduce(OpKind::reduce_max, x, dims);
  const ValueId shifted = b.sub(x, b.unreduce(largest, dims, shape));
  const ValueId log = b.log(b.sum(b.exp(shifted), dims));
  return {b.cast(b.sub(shifted, b.unreduce(log, dims, shape)), b.dtype(b.arg(0)))};
}

ops::Values log_softmax_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const ValueId y = b.widened(b.result());
  const ValueId d = b.widened(dy[0]);
  const IntList dims = {ops::dim_of(b.attributes(), "dim", b.rank(b.arg(0)))};
  if (b.error()) return {ValueId()};
  const ValueId sum = b.unreduce(b.sum(d, dims), dims, b.shape(y));
  return {b.cast(b.sub(d, b.mul(b.exp(y), sum)), b.dtype(dy[0]))};
}

}  // namespace

OpRecord op_log_softmax() {
  return {
      .mnemonic = "log_softmax",
      .shape = OpShape::kComposite,
      .summary = "The logarithm of softmax along one dimension.",
      .doc = {.shapes = "Any shape of rank 1 or more; the result has the same.",
              .sharding = "Other dimensions pass through. If dim is cut, ranks reduce only the "
                          "maximum and the sum, two tensors without dim; x is not gathered.",
              .dtypes = "Floats; 16- and 8-bit ones are computed in f32 and rounded once.",
              .cost = "Reads x and writes y once (bytes) when fused; about 12 flops per element."},
      .operands = {{.name = "x", .doc = "the operand"}},
      .attributes = {ops::dim_attribute("the dimension that is normalised")},
      .results = {{.name = "y", .doc = "x - max - log sum exp(x - max)"}},
      .constraints = {{"log_softmax_c1", ops::kDim, ops::check_indexed_dim},
                      {"log_softmax_c2", ops::kFloat, ops::check_float}},
      .infer = ops::infer_like_first,
      .expand = expand_log_softmax,
      .cost = ops::composite_cost<12>,
      .gradient = "dx = dy - exp(y) * sum(dy)",
      .vjp = log_softmax_vjp,
      .example = R"(fusion @f(%x: tensor<2x4xf32>) -> (%y: tensor<2x4xf32>) {
  %y = log_softmax %x
  return %y
})",
      .source = "torch.log_softmax",
  };
}

}  // namespace hostir
