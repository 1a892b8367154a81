#include "hostir/ops/common.h"

namespace hostir {

OpRecord op_gelu() {
  return {
      .mnemonic = "gelu",
      .shape = OpShape::kPointwise,
      .summary = "The Gaussian error linear unit of each element.",
      .doc = {.shapes = "Any shape; the result has the same.",
              .sharding = "Every dimension passes through. A partial operand is reduced first.",
              .dtypes = "f64 f32 bf16 f16; 16-bit types are computed in f32 and rounded once.",
              .errors = "gelu_c1: an operand that is no float.",
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
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = gelu %x {approximate = tanh}
  return %y
})",
      .source =
          "torch.nn.functional.gelu; D. Hendrycks, K. Gimpel, Gaussian error linear units, 2016",
  };
}

}  // namespace hostir
