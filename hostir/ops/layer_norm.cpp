#include "hostir/ops/composite.h"

namespace hostir {

namespace {

ops::Violated check_norm_weights(const OpCall& call) {
  auto weight = ops::check_affine(call, 1);
  return weight ? weight : ops::check_affine(call, 2);
}

// x minus its mean, times the reciprocal of the standard deviation.
struct Normalised {
  ValueId x;
  ValueId root;  // 1 / sqrt(variance + eps), repeated
};

Normalised normalised(ops::Builder& b, const IntList& dims) {
  const ValueId x = b.widened(b.arg(0));
  const ValueId centred = b.sub(x, ops::repeated_mean(b, x, dims));
  const ValueId variance = b.reduce(OpKind::reduce_mean, b.mul(centred, centred), dims);
  if (b.error()) return {};
  const double eps = b.attributes().get_or<double>("eps", 1e-5);
  const ValueId root =
      b.unreduce(b.op(OpKind::rsqrt, {b.shifted(variance, eps)}), dims, b.shape(x));
  return {b.mul(centred, root), root};
}

ops::Values expand_layer_norm(ops::Builder& b) {
  const ValueId x = b.arg(0);
  const IntList dims = ops::normalised_dims(b.attributes(), b.rank(x));
  ValueId y = normalised(b, dims).x;
  const Shape shape = b.shape(x);
  if (b.has_arg(1)) y = b.mul(y, ops::along_normalised(b, b.arg(1), dims, shape));
  if (b.has_arg(2)) y = b.add(y, ops::along_normalised(b, b.arg(2), dims, shape));
  return {b.cast(y, b.dtype(x))};
}

// With g = dy * weight: dx = (g - mean g - n * mean(g * n)) / deviation, n = x normalised.
ops::Values layer_norm_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const ValueId x = b.arg(0);
  const Shape shape = b.shape(x);
  const IntList dims = ops::normalised_dims(b.attributes(), b.rank(x));
  const IntList others = ops::other_dims(b.rank(x), dims);
  const Normalised n = normalised(b, dims);
  const ValueId d = b.widened(dy[0]);
  const ValueId g = b.has_arg(1) ? b.mul(d, ops::along_normalised(b, b.arg(1), dims, shape)) : d;
  const ValueId inner = b.sub(b.sub(g, ops::repeated_mean(b, g, dims)),
                              b.mul(n.x, ops::repeated_mean(b, b.mul(g, n.x), dims)));
  ops::Values out = {b.cast(b.mul(inner, n.root), b.dtype(x))};
  if (b.has_arg(1)) out.push_back(b.cast(b.sum(b.mul(d, n.x), others), b.dtype(b.arg(1))));
  if (b.has_arg(2)) out.push_back(b.cast(b.sum(d, others), b.dtype(b.arg(2))));
  return out;
}

}  // namespace

OpRecord op_layer_norm() {
  return {
      .mnemonic = "layer_norm",
      .shape = OpShape::kComposite,
      .summary =
          "Elements with mean 0 and variance 1 along some dimensions, then scaled and "
          "shifted.",
      .doc = {.shapes = "x of rank 1 or more; weight and bias have the sizes of x along dims.",
              .sharding = "Other dimensions pass through. If dims are cut, the two means are "
                          "reduced, tensors without dims; x is not gathered.",
              .dtypes = "Floats; 16- and 8-bit ones are computed in f32 and rounded once.",
              .cost = "Reads x and writes y once (bytes) when fused; about 9 flops per element."},
      .operands = {{.name = "x", .doc = "the operand"},
                   {.name = "weight",
                    .doc = "multiplied at the end",
                    .arity = OperandSpec::Arity::kOptional},
                   {.name = "bias",
                    .doc = "added at the end",
                    .arity = OperandSpec::Arity::kOptional}},
      .attributes = {ops::normalised_dims_attribute(), ops::epsilon_attribute()},
      .results =
          {{.name = "y",
            .doc =
                "(x - mean) / sqrt(variance + eps) * weight + bias, with the population variance"}},
      .constraints = {{"layer_norm_c1", ops::kNormalisedDims, ops::check_normalised_dims},
                      {"layer_norm_c2", ops::kAffine, check_norm_weights},
                      {"layer_norm_c3", ops::kFloat, ops::check_float}},
      .infer = ops::infer_like_first,
      .expand = expand_layer_norm,
      .cost = ops::composite_cost<9>,
      .gradient =
          "dx = (g - mean g - n mean(g n)) / deviation with g = dy weight and n the "
          "normalised x; dweight = sum of dy n, dbias = sum of dy",
      .vjp = layer_norm_vjp,
      .example =
          R"(fusion @f(%x: tensor<2x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> (%y: tensor<2x8xf32>) {
  %y = layer_norm %x, %w, %b
  return %y
})",
      .source = "J. Ba, J. Kiros, G. Hinton, Layer normalization, 2016; torch.nn.functional",
  };
}

}  // namespace hostir
