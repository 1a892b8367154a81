#include <fmt/core.h>

#include "hostir/ops/host.h"

namespace hostir {

namespace {

ops::Violated check_wait_operands(const OpCall& call) {
  for (const ops::SlotOperand& event : ops::in_slot(call, "event")) {
    if (event.type != nullptr && !std::holds_alternative<EventType>(*event.type)) {
      return Violation{fmt::format("wait needs an event, not {}", to_string(*event.type)),
                       static_cast<int>(event.index)};
    }
  }
  return ops::check_handles(call);
}

}  // namespace

OpRecord op_wait() {
  return {
      .mnemonic = "wait",
      .op_class = OpClass::kHost,
      .shape = OpShape::kHost,
      .role = HostRole::kWait,
      .summary = "The stream, or the host, continues only after the event is complete.",
      .doc = {.shapes = ops::kNoLayout,
              .sharding = ops::kNoLayout,
              .dtypes = ops::kNoDTypes,
              .cost = "The time until the event (ns); nothing if it is complete."},
      .operands = {{.name = "event", .doc = "the awaited event; none is complete"},
                   {.name = "stream",
                    .doc = "the stream that waits; the host if left out",
                    .arity = OperandSpec::Arity::kOptional}},
      .constraints = {{"wait_c1", "The operand is an event; a stream or the host waits for it.",
                       check_wait_operands}},
      .gradient = ops::kNoHostGradient,
      .example = R"(mesh @m = <x=2>
kernel @double(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = add %x, %x
  return %y
}
host @f on @m (%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %s = stream "compute"
  %b = alloc on %s : tensor<4xf32>
  %n = stream "other"
  %e = launch @double ro(%a) wo(%b) on %s
  wait %e on %n
  wait %e on host
  return %b
})",
      .source = "Equivalent to: cudaStreamWaitEvent, cudaEventSynchronize",
      .assembly = "$event on $stream|host",
  };
}

}  // namespace hostir
