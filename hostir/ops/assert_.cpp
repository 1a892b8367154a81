#include "hostir/ops/host.h"

namespace hostir {

OpRecord op_assert_() {
  return {
      .mnemonic = "assert",
      .op_class = OpClass::kHost,
      .shape = OpShape::kHost,
      .summary = "Ends the run with an error on a rank where a condition does not hold.",
      .doc = {.shapes = ops::kNoLayout,
              .sharding = ops::kNoLayout,
              .dtypes = ops::kNoDTypes,
              .errors = "assert_failed, at run time.",
              .cost = ops::kStreamCost},
      .attributes = {{.name = "condition",
                      .type = AttributeSpec::Type::kExpr,
                      .doc = "the condition; 0 ends the run",
                      .required = true},
                     {.name = "message",
                      .type = AttributeSpec::Type::kString,
                      .doc = "the text of the error"}},
      .gradient = ops::kNoHostGradient,
      .example = R"(mesh @m = <x=2>
host @f on @m (%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %s = stream "compute"
  assert size(x) == 2, "written for two ranks"
  %b = alloc on %s : tensor<4xf32>
  return %b
})",
      .source = "C's assert",
      .assembly = "#condition <, #message>",
  };
}

}  // namespace hostir
