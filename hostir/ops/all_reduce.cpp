#include "hostir/ops/collective.h"

namespace hostir {

OpRecord op_all_reduce() {
  return {
      .mnemonic = "all_reduce",
      .op_class = OpClass::kCommunication,
      .shape = OpShape::kHost,
      .summary =
          "Combines the buffers of all members element by element; every member gets the result.",
      .doc = {.shapes = "The same extents on every member, in and out.",
              .sharding = "Partial over the communicator's axes before, whole on every member "
                          "after.",
              .dtypes = ops::kReducedDType,
              .cost = ops::kCollectiveCost},
      .operands = ops::collective_operands(),
      .attributes = {ops::reduction_attribute()},
      .results = ops::event_result(),
      .constraints = {{"all_reduce_c1", ops::kHandles, ops::check_handles},
                      {"all_reduce_c2", ops::kForm, ops::check_form},
                      {"all_reduce_c3", ops::kReducible, ops::check_reducible},
                      {"all_reduce_c4", ops::kSameElements,
                       ops::check_elements<ops::Extent::kSame>},
                      {"all_reduce_c5", ops::kReducedLayout, ops::check_reduced_layout}},
      .communication = {.family = Communication::Family::kReduction,
                        .steps = Communication::Steps::kTwiceRing,
                        .wire = Communication::Wire::kTwiceOthers,
                        .has_tree = true,
                        .glyph = "\u03a3"},
      .gradient = "none: communication is differentiated in the fusion, before lowering",
      .example = R"(mesh @m = <x=2>
host @f on @m (%a: shard<4xf32, @m, [{}], unreduced={x}>) -> (%b: shard<4xf32, @m, [{}]>) {
  %c = comm over {x}
  %s = stream "comm"
  %b = alloc on %s : shard<4xf32, @m, [{}]>
  all_reduce sum %c ro(%a) wo(%b) on %s
  return %b
})",
      .source = "Equivalent to: ncclAllReduce",
      .assembly = "#reduction $comm $input $output $buffer on $stream",
  };
}

}  // namespace hostir
