#include "hostir/ops/collective.h"

namespace hostir {

OpRecord op_send() {
  return {
      .mnemonic = "send",
      .op_class = OpClass::kCommunication,
      .shape = OpShape::kHost,
      .summary =
          "Sends a buffer to one member; completes when that member has received it (rendezvous).",
      .doc = {.shapes = "Any; sender and receiver have the same number of elements.",
              .sharding = "Each side's layout is its own.",
              .dtypes = "Any, the same on both sides.",
              .cost = "One transfer over the link between the two (bytes)."},
      .operands = {{.name = "comm", .doc = "the communicator"},
                   {.name = "input", .doc = "what is sent", .access = Access::kRead},
                   {.name = "stream", .doc = "the stream that orders it"}},
      .attributes = {ops::peer_attribute()},
      .results = ops::event_result(),
      .constraints = {{"send_c1", ops::kHandles, ops::check_handles},
                      {"send_c2", "There is a buffer.", ops::check_transfer_buffer},
                      {"send_c3", ops::kPeer, ops::check_peer}},
      .communication = {.family = Communication::Family::kPointToPoint,
                        .steps = Communication::Steps::kOne,
                        .wire = Communication::Wire::kAll,
                        .glyph = "\u2192"},
      .gradient = "none: communication is differentiated in the fusion, before lowering",
      .example = R"(mesh @m = <x=2>
host @f on @m (%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %c = comm over {x}
  %s = stream "comm"
  %b = alloc on %s : tensor<4xf32>
  where coord(x) == 0 {
    send %c peer(1) ro(%a) on %s
  } else {
    recv %c peer(0) wo(%b) on %s
  }
  return %b
})",
      .source = "Equivalent to: ncclSend",
      .assembly = "$comm peer(#peer) $input on $stream",
  };
}

}  // namespace hostir
