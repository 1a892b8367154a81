#include "hostir/ops/collective.h"

namespace hostir {

OpRecord op_reduce() {
  return {
      .mnemonic = "reduce",
      .op_class = OpClass::kCommunication,
      .shape = OpShape::kHost,
      .summary =
          "Combines the buffers of all members element by element; the root gets the result.",
      .doc = {.shapes = "The same extents on every member; the output is `none` on all but the "
                        "root.",
              .sharding = "Partial before, whole on the root after.",
              .dtypes = ops::kReducedDType,
              .cost = ops::kCollectiveCost},
      .operands = ops::collective_operands(),
      .attributes = {ops::reduction_attribute(), ops::root_attribute()},
      .results = ops::event_result(),
      .constraints = {{"reduce_c1", ops::kHandles, ops::check_handles},
                      {"reduce_c2", ops::kForm, ops::check_form},
                      {"reduce_c3", ops::kReducible, ops::check_reducible},
                      {"reduce_c4", ops::kSameElements, ops::check_elements<ops::Extent::kSame>},
                      {"reduce_c5", ops::kRoot, ops::check_root}},
      .communication = {.family = Communication::Family::kReduction,
                        .steps = Communication::Steps::kRing,
                        .wire = Communication::Wire::kAll,
                        .glyph = "\u03a3"},
      .gradient = "none: communication is differentiated in the fusion, before lowering",
      .example = R"(mesh @m = <x=2>
host @f on @m (%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %c = comm over {x}
  %s = stream "comm"
  %b = alloc on %s : tensor<4xf32>
  reduce sum %c root(0) ro(%a) wo(%b) on %s
  return %b
})",
      .source = "Equivalent to: ncclReduce",
      .assembly = "#reduction $comm root(#root) $input $output $buffer on $stream",
  };
}

}  // namespace hostir
