#include "hostir/ops/collective.h"

namespace hostir {

OpRecord op_scatter() {
  return {
      .mnemonic = "scatter",
      .op_class = OpClass::kCommunication,
      .shape = OpShape::kHost,
      .summary = "Each member gets its block of the root's buffer.",
      .doc = {.shapes = "Blocks along dimension 0 in group order, of any number of rows each; "
                        "the input is `none` on all but the root.",
              .sharding = "Whole on the root before, cut along dimension 0 after.",
              .dtypes = ops::kAnyDType,
              .cost = ops::kCollectiveCost},
      .operands = ops::collective_operands(),
      .attributes = {ops::root_attribute()},
      .results = ops::event_result(),
      .constraints = {{"scatter_c1", ops::kHandles, ops::check_handles},
                      {"scatter_c2", ops::kForm, ops::check_form},
                      {"scatter_c3", ops::kDTypes, ops::check_dtypes},
                      {"scatter_c4", ops::kInputIsAll,
                       ops::check_elements<ops::Extent::kInputIsAll>},
                      {"scatter_c5", ops::kRoot, ops::check_root}},
      .communication = {.family = Communication::Family::kExchange,
                        .steps = Communication::Steps::kRing,
                        .wire = Communication::Wire::kOthers,
                        .glyph = "\u229f"},
      .gradient = "none: communication is differentiated in the fusion, before lowering",
      .example = R"(mesh @m = <x=2>
host @f on @m (%a: tensor<4xf32>) -> (%b: tensor<2xf32>) {
  %c = comm over {x}
  %s = stream "comm"
  %b = alloc on %s : tensor<2xf32>
  scatter %c root(0) ro(%a) wo(%b) on %s
  return %b
})",
      .source = "Equivalent to: ncclScatter, or grouped ncclSend and ncclRecv",
      .assembly = "$comm root(#root) $input $output $buffer on $stream",
  };
}

}  // namespace hostir
