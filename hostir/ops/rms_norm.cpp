#include "hostir/ops/composite.h"

namespace hostir {

namespace {

ops::Violated check_rms_weight(const OpCall& call) { return ops::check_affine(call, 1); }

ops::Values expand_rms_norm(ops::Builder& b) {
  const ValueId x = b.widened(b.arg(0));
  if (b.error()) return {x};
  const IntList dims = ops::normalised_dims(b.attributes(), b.rank(x));
  const double eps = b.attributes().get_or<double>("eps", 1e-5);
  const ValueId square = b.reduce(OpKind::reduce_mean, b.mul(x, x), dims);
  if (b.error()) return {x};
  const Shape shape = b.shape(x);
  ValueId y = b.mul(x, b.unreduce(b.op(OpKind::rsqrt, {b.shifted(square, eps)}), dims, shape));
  if (b.has_arg(1)) y = b.mul(y, ops::along_normalised(b, b.arg(1), dims, shape));
  return {b.cast(y, b.dtype(b.arg(0)))};
}

}  // namespace

OpRecord op_rms_norm() {
  return {
      .mnemonic = "rms_norm",
      .shape = OpShape::kComposite,
      .summary =
          "Elements divided by the root of their mean square along some dimensions, then "
          "scaled.",
      .doc = {.shapes = "x of rank 1 or more; the weight has the sizes of x along dims.",
              .sharding = "Other dimensions pass through. If dims are cut, the mean square is "
                          "reduced, a tensor without dims; x is not gathered.",
              .dtypes = "Floats; 16- and 8-bit ones are computed in f32 and rounded once.",
              .cost = "Reads x and writes y once (bytes) when fused; about 5 flops per element."},
      .operands = {{.name = "x", .doc = "the operand"},
                   {.name = "weight",
                    .doc = "multiplied at the end",
                    .arity = OperandSpec::Arity::kOptional}},
      .attributes = {ops::normalised_dims_attribute(), ops::epsilon_attribute()},
      .results = {{.name = "y", .doc = "x / sqrt(mean(x^2) + eps) * weight"}},
      .constraints = {{"rms_norm_c1", ops::kNormalisedDims, ops::check_normalised_dims},
                      {"rms_norm_c2", ops::kAffine, check_rms_weight},
                      {"rms_norm_c3", ops::kFloat, ops::check_float}},
      .infer = ops::infer_like_first,
      .expand = expand_rms_norm,
      .cost = ops::composite_cost<5>,
      .gradient = "that of the ops it expands to",
      .example =
          R"(fusion @f(%x: tensor<2x8xf32>, %w: tensor<8xf32>) -> (%y: tensor<2x8xf32>) {
  %y = rms_norm %x, %w
  return %y
})",
      .source = "B. Zhang, R. Sennrich, Root mean square layer normalization, 2019",
  };
}

}  // namespace hostir
