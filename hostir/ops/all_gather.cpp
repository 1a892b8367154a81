#include "hostir/ops/collective.h"

namespace hostir {

OpRecord op_all_gather() {
  return {
      .mnemonic = "all_gather",
      .op_class = OpClass::kCommunication,
      .shape = OpShape::kHost,
      .summary = "Every member gets the blocks of all members, one after another in group order.",
      .doc = {.shapes = "Blocks along dimension 0, of any number of rows each; other sizes "
                        "equal. In place: the buffer holds all blocks, the member's own at its "
                        "place.",
              .sharding = "Before: cut along dimension 0 over the communicator's axes; after: not "
                          "cut. Instead of 0 a later dimension, if each rank has one index of "
                          "every dimension before it.",
              .dtypes = ops::kAnyDType,
              .cost = ops::kCollectiveCost},
      .operands = ops::collective_operands(),

      .results = ops::event_result(),
      .constraints = {{"all_gather_c1", ops::kHandles, ops::check_handles},
                      {"all_gather_c2", ops::kForm, ops::check_form},
                      {"all_gather_c3", ops::kDTypes, ops::check_dtypes},
                      {"all_gather_c4", ops::kOutputIsAll,
                       ops::check_elements<ops::Extent::kOutputIsAll>}},
      .communication = {.family = Communication::Family::kExchange,
                        .steps = Communication::Steps::kRing,
                        .wire = Communication::Wire::kOthers,
                        .glyph = "\u229e"},
      .gradient = "none: communication is differentiated in the fusion, before lowering",
      .example = R"(mesh @m = <x=2>
host @f on @m (%a: shard<4xf32, @m, [{x}]>) -> (%b: shard<4xf32, @m, [{}]>) {
  %c = comm over {x}
  %s = stream "comm"
  %b = alloc on %s : shard<4xf32, @m, [{}]>
  all_gather %c ro(%a) wo(%b) on %s
  return %b
})",
      .source = "Equivalent to: ncclAllGather; uneven blocks as grouped ncclBroadcast",
      .assembly = "$comm $input $output $buffer on $stream",
  };
}

}  // namespace hostir
