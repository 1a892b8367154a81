#include "hostir/ops/builder.h"

namespace hostir {

namespace {

ops::Values silu_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const ValueId x = b.widened(b.arg(0));
  const ValueId s = b.op(OpKind::sigmoid, {x});
  const ValueId rest = b.sub(b.full_like(s, 1), s);
  const ValueId slope = b.mul(s, b.shifted(b.mul(x, rest), 1));
  return {b.cast(b.mul(b.widened(dy[0]), slope), b.dtype(dy[0]))};
}

}  // namespace

OpRecord op_silu() {
  return {
      .mnemonic = "silu",
      .shape = OpShape::kPointwise,
      .summary = "Each element times its sigmoid.",
      .doc = {.shapes = "Any; the result has the same shape.",
              .sharding =
                  "Every dimension passes through: operand and result have the same sharding. A "
                  "partial operand is reduced first.",
              .dtypes = "Floats; 16- and 8-bit ones are computed in f32 and rounded once.",
              .cost = "Reads x and writes y once (bytes); about 9 flops per element."},
      .operands = {{.name = "x", .doc = "the operand"}},
      .results = {{.name = "y", .doc = "x * sigmoid(x)"}},
      .constraints = {{"silu_c1", ops::kFloat, ops::check_float}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<9>,
      .gradient = "dx = dy * (s + x * s * (1 - s)) with s = sigmoid(x)",
      .vjp = silu_vjp,
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = silu %x
  return %y
})",
      .source = "torch.nn.functional.silu; Elfwing et al., 2017",
  };
}

}  // namespace hostir
