#include "hostir/ops/builder.h"

namespace hostir {

namespace {

ops::Values erf_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const ValueId x = b.widened(b.arg(0));
  const ValueId slope = b.scaled(b.exp(b.neg(b.mul(x, x))), 1.1283791670955126);
  return {b.cast(b.mul(b.widened(dy[0]), slope), b.dtype(dy[0]))};
}

}  // namespace

OpRecord op_erf() {
  return {
      .mnemonic = "erf",
      .shape = OpShape::kPointwise,
      .summary = "The error function of each element.",
      .doc = {.shapes = "Any; the result has the same shape.",
              .sharding = "Every dimension passes through. Monotonic: a partial max or min stays "
                          "partial, a partial sum is reduced first.",
              .dtypes = "Floats; 16- and 8-bit ones are computed in f32 and rounded once.",
              .cost = "Reads x and writes y once (bytes); about 10 flops per element."},
      .operands = {{.name = "x", .doc = "the operand", .partial = ops::kRising}},
      .results = {{.name = "y", .doc = "erf(x)"}},
      .constraints = {{"erf_c1", ops::kFloat, ops::check_float}},
      .infer = ops::infer_like_first,
      .rule = ops::pointwise_rule,
      .cost = ops::pointwise_cost<10>,
      .gradient = "dx = dy * 2/sqrt(pi) * exp(-x^2)",
      .vjp = erf_vjp,
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = erf %x
  return %y
})",
      .source = "W. J. Cody, Rational Chebyshev approximations for the error function, 1969",
  };
}

}  // namespace hostir
