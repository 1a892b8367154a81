#include "hostir/ops/host.h"

namespace hostir {

OpRecord op_return_() {
  return {
      .mnemonic = "return",
      .op_class = OpClass::kHost,
      .shape = OpShape::kHost,
      .role = HostRole::kReturn,
      .summary = "Ends a function with its results; waits for nothing.",
      .doc = {.shapes = "Those declared.",
              .sharding = "The declared ones; propagation works towards them.",
              .dtypes = "Those declared.",
              .errors = "function_c1: at the end; function_c5, function_c6: the values declared.",
              .cost = "None: no work."},
      .operands = {{.name = "values",
                    .doc = "the results in order",
                    .arity = OperandSpec::Arity::kVariadic}},
      .gradient = ops::kNoHostGradient,
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = relu %x
  return %y
})",
      .source = "MLIR's func.return",
      .assembly = "$values",
  };
}

}  // namespace hostir
