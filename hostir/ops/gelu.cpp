#include "hostir/ops/builder.h"

namespace hostir {

namespace {

// dy * (Phi(x) + x * phi(x)), or the derivative of the tanh form. 16- and 8-bit floats compute in
// f32.
ops::Values gelu_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const ValueId x = b.widened(b.arg(0));
  const ValueId square = b.mul(x, x);
  const auto* form = b.attributes().get<Keyword>("approximate");
  ValueId slope;
  if (form != nullptr && form->word == "tanh") {
    constexpr double kRoot = 0.7978845608028654;  // sqrt(2 / pi)
    constexpr double kCubic = 0.044715;
    const ValueId inner = b.mul(x, b.scaled(b.shifted(b.scaled(square, kCubic), 1), kRoot));
    const ValueId t = b.op(OpKind::tanh, {inner});
    const ValueId rest = b.sub(b.full_like(t, 1), b.mul(t, t));
    const ValueId inner_slope = b.scaled(b.shifted(b.scaled(square, 3 * kCubic), 1), kRoot);
    const ValueId second = b.mul(b.mul(x, rest), inner_slope);
    slope = b.scaled(b.add(b.shifted(t, 1), second), 0.5);
  } else {
    const ValueId phi = b.scaled(b.exp(b.scaled(square, -0.5)), 0.3989422804014327);
    const ValueId erf = b.op(OpKind::erf, {b.scaled(x, 0.7071067811865476)});
    slope = b.add(b.scaled(b.shifted(erf, 1), 0.5), b.mul(x, phi));
  }
  return {b.cast(b.mul(b.widened(dy[0]), slope), b.dtype(dy[0]))};
}

}  // namespace

OpRecord op_gelu() {
  return {
      .mnemonic = "gelu",
      .shape = OpShape::kPointwise,
      .summary = "The Gaussian error linear unit of each element.",
      .doc = {.shapes = "Any; the result has the same shape.",
              .sharding = "Every dimension passes through. A partial operand is reduced first.",
              .dtypes = "Floats; 16- and 8-bit ones are computed in f32 and rounded once.",
              .cost = "Reads x and writes y once (bytes); about 14 flops per element."},
      .operands = {{.name = "x", .doc = "the operand"}},
      .attributes = {{.name = "approximate",
                      .type = AttributeSpec::Type::kKeyword,
                      .doc = "none: by erf; tanh: by the cubic approximation",
                      .fallback = Attribute(Keyword{"none"}),
                      .keywords = {"none", "tanh"}}},
      .results = {{.name = "y",
                   .doc = "x/2 * (1 + erf(x/sqrt(2))); with tanh x/2 * (1 + tanh(sqrt(2/pi) * (x + "
                          "0.044715 * x^3)))"}},
      .constraints = {{"gelu_c1", ops::kFloat, ops::check_float}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<14>,
      .gradient = "dx = dy * (Phi(x) + x * phi(x)), or the derivative of the tanh form",
      .vjp = gelu_vjp,
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = gelu %x {approximate = tanh}
  return %y
})",
      .source =
          "torch.nn.functional.gelu; D. Hendrycks, K. Gimpel, Gaussian error linear units, 2016",
  };
}

}  // namespace hostir
