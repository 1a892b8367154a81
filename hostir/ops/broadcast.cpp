#include "hostir/ops/collective.h"

namespace hostir {

OpRecord op_broadcast() {
  return {
      .mnemonic = "broadcast",
      .op_class = OpClass::kCommunication,
      .shape = OpShape::kHost,
      .summary = "Every member gets the root's buffer.",
      .doc = {.shapes = "The same extents on every member.",
              .sharding = "The root's values become everyone's; the layout stays.",
              .dtypes = ops::kAnyDType,
              .cost = ops::kCollectiveCost},
      .operands = ops::collective_operands(),
      .attributes = {ops::root_attribute()},
      .results = ops::event_result(),
      .constraints = {{"broadcast_c1", ops::kHandles, ops::check_handles},
                      {"broadcast_c2", ops::kForm, ops::check_form},
                      {"broadcast_c3", ops::kDTypes, ops::check_dtypes},
                      {"broadcast_c4", ops::kSameElements, ops::check_elements<ops::Extent::kSame>},
                      {"broadcast_c5", ops::kRoot, ops::check_root}},
      .communication = {.family = Communication::Family::kExchange,
                        .steps = Communication::Steps::kRing,
                        .wire = Communication::Wire::kAll,
                        .glyph = "\u21c9"},
      .gradient = "none: communication is differentiated in the fusion, before lowering",
      .example = R"(mesh @m = <x=2>
host @f on @m (%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %c = comm over {x}
  %s = stream "comm"
  %b = alloc on %s : tensor<4xf32>
  broadcast %c root(0) ro(%a) wo(%b) on %s
  return %b
})",
      .source = "Equivalent to: ncclBroadcast",
      .assembly = "$comm root(#root) $input $output $buffer on $stream",
  };
}

}  // namespace hostir
