#include "hostir/ops/host.h"

namespace hostir {

OpRecord op_yield() {
  return {
      .mnemonic = "yield",
      .op_class = OpClass::kHost,
      .shape = OpShape::kHost,
      .role = HostRole::kYield,
      .summary = "Passes values from a region of for or where to the code after it.",
      .doc = {.shapes = ops::kNoLayout,
              .sharding = ops::kNoLayout,
              .dtypes = ops::kNoDTypes,
              .errors = "for_c1, for_c2: what a loop's region must yield.",
              .cost = "None: no work."},
      .operands = {{.name = "values",
                    .doc =
                        "the values passed on; none is a complete event. In the loop of a fusion, "
                        "those beyond the carried ones are stacked",
                    .arity = OperandSpec::Arity::kVariadic},
                   {.name = "condition",
                    .doc = "in the loop of a fusion, an i1: where it is false, the loop ends with "
                           "the values that this pass was given",
                    .arity = OperandSpec::Arity::kOptional}},
      .gradient = ops::kNoHostGradient,
      .example = R"(mesh @m = <x=2>
kernel @double(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = add %x, %x
  return %y
}
host @f on @m (%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %s = stream "compute"
  %b = alloc on %s : tensor<4xf32>
  %e = for %i in 0..3 carry(%p = none) {
    wait %p on %s
    %q = launch @double ro(%a) wo(%b) on %s
    yield %q
  }
  return %b
})",
      .source = "MLIR's scf.yield",
      .assembly = "$values <while $condition>",
  };
}

}  // namespace hostir
