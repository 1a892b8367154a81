#include <fmt/core.h>

#include "hostir/ops/host.h"

namespace hostir {

namespace {

ops::Violated check_body(const OpCall& call) {
  if (call.function == nullptr) return std::nullopt;
  for (const RegionId region : call.instruction->regions) {
    for (const InstrId id : call.function->region(region).instructions) {
      const OpRecord& op = record(call.function->instr(id).kind);
      if (op.op_class == OpClass::kCommunication) continue;
      return Violation{fmt::format("group can contain only communication, not {}", op.mnemonic)};
    }
  }
  return std::nullopt;
}

}  // namespace

OpRecord op_group() {
  return {
      .mnemonic = "group",
      .op_class = OpClass::kHost,
      .shape = OpShape::kHost,
      .role = HostRole::kGroup,
      .summary = "Several collectives, sends and receives issued as one, with one event.",
      .doc = {.shapes = ops::kNoLayout,
              .sharding = "Each operation's own.",
              .dtypes = ops::kNoDTypes,
              .cost = "Host issue cost once (ns); the operations progress together."},
      .results = ops::event_result(),
      .constraints = {{"group_c1", "It contains only communication.", check_body}},
      .communication = {.family = Communication::Family::kPointToPoint, .glyph = "\u21c4"},
      .gradient = ops::kNoHostGradient,
      .example = R"(mesh @m = <x=2>
host @f on @m (%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %c = comm over {x}
  %s = stream "comm"
  %b = alloc on %s : tensor<4xf32>
  group {
    send %c peer((coord(x) + 1) % 2) ro(%a) on %s
    recv %c peer((coord(x) + 1) % 2) wo(%b) on %s
  }
  return %b
})",
      .source = "Equivalent to: ncclGroupStart, ncclGroupEnd",
      .assembly = "region",
  };
}

}  // namespace hostir
