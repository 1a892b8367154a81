#include "hostir/ops/collective.h"

namespace hostir {

OpRecord op_reduce_scatter() {
  return {
      .mnemonic = "reduce_scatter",
      .op_class = OpClass::kCommunication,
      .shape = OpShape::kHost,
      .summary =
          "Combines the buffers of all members element by element; each member gets its block of "
          "the result.",
      .doc = {.shapes = "Blocks along dimension 0 in group order, of any number of rows each. "
                        "In place: the member's block of the buffer is the result.",
              .sharding = "Before: partial over the communicator's axes; after: cut along "
                          "dimension 0. Instead of 0 a later dimension, if each rank has one index "
                          "of every dimension before it.",
              .dtypes = ops::kReducedDType,
              .cost = ops::kCollectiveCost},
      .operands = ops::collective_operands(),
      .attributes = {ops::reduction_attribute()},
      .results = ops::event_result(),
      .constraints = {{"reduce_scatter_c1", ops::kHandles, ops::check_handles},
                      {"reduce_scatter_c2", ops::kForm, ops::check_form},
                      {"reduce_scatter_c3", ops::kReducible, ops::check_reducible},
                      {"reduce_scatter_c4", ops::kInputIsAll,
                       ops::check_elements<ops::Extent::kInputIsAll>},
                      {"reduce_scatter_c5", ops::kReducedLayout, ops::check_reduced_layout}},
      .communication = {.family = Communication::Family::kExchange,
                        .steps = Communication::Steps::kRing,
                        .wire = Communication::Wire::kOthers,
                        .glyph = "\u229f"},
      .gradient = "none: communication is differentiated in the fusion, before lowering",
      .example = R"(mesh @m = <x=2>
host @f on @m (%a: shard<4xf32, @m, [{}], unreduced={x}>) -> (%b: shard<4xf32, @m, [{x}]>) {
  %c = comm over {x}
  %s = stream "comm"
  %b = alloc on %s : shard<4xf32, @m, [{x}]>
  reduce_scatter sum %c ro(%a) wo(%b) on %s
  return %b
})",
      .source = "Equivalent to: ncclReduceScatter; uneven blocks as grouped ncclReduce",
      .assembly = "#reduction $comm $input $output $buffer on $stream",
  };
}

}  // namespace hostir
