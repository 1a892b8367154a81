#include "hostir/ops/collective.h"

namespace hostir {

OpRecord op_gather() {
  return {
      .mnemonic = "gather",
      .op_class = OpClass::kCommunication,
      .shape = OpShape::kHost,
      .summary = "The root gets the blocks of all members, one after another in group order.",
      .doc = {.shapes = "Blocks along dimension 0, of any number of rows each; the output is "
                        "`none` on all but the root.",
              .sharding = "Cut along dimension 0 before, whole on the root after.",
              .dtypes = ops::kAnyDType,
              .cost = ops::kCollectiveCost},
      .operands = ops::collective_operands(),
      .attributes = {ops::root_attribute()},
      .results = ops::event_result(),
      .constraints = {{"gather_c1", ops::kHandles, ops::check_handles},
                      {"gather_c2", ops::kForm, ops::check_form},
                      {"gather_c3", ops::kDTypes, ops::check_dtypes},
                      {"gather_c4", ops::kOutputIsAll,
                       ops::check_elements<ops::Extent::kOutputIsAll>},
                      {"gather_c5", ops::kRoot, ops::check_root}},
      .communication = {.family = Communication::Family::kExchange,
                        .steps = Communication::Steps::kRing,
                        .wire = Communication::Wire::kOthers,
                        .glyph = "\u229e"},
      .gradient = "none: communication is differentiated in the fusion, before lowering",
      .example = R"(mesh @m = <x=2>
host @f on @m (%a: tensor<2xf32>) -> (%b: tensor<4xf32>) {
  %c = comm over {x}
  %s = stream "comm"
  %b = alloc on %s : tensor<4xf32>
  gather %c root(0) ro(%a) wo(%b) on %s
  return %b
})",
      .source = "Equivalent to: ncclGather, or grouped ncclSend and ncclRecv",
      .assembly = "$comm root(#root) $input $output $buffer on $stream",
  };
}

}  // namespace hostir
