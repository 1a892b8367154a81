#include <fmt/core.h>

#include "hostir/ops/host.h"

namespace hostir {

namespace {

ops::Violated check_owned(const OpCall& call) {
  const auto buffer = ops::first_in(call, "buffer");
  if (!buffer) return std::nullopt;
  for (const Parameter& parameter : call.function->params) {
    if (parameter.value != buffer->operand->value) continue;
    return Violation{fmt::format("free of %{}: parameters belong to the caller",
                                 call.function->value(parameter.value).name),
                     static_cast<int>(buffer->index)};
  }
  return std::nullopt;
}

}  // namespace

OpRecord op_free() {
  return {
      .mnemonic = "free",
      .op_class = OpClass::kHost,
      .shape = OpShape::kHost,
      .role = HostRole::kFree,
      .summary = "Releases a buffer once the stream gets there.",
      .doc = {.shapes = "Any.", .sharding = "Any.", .dtypes = "Any.", .cost = ops::kStreamCost},
      .operands = {{.name = "buffer", .doc = "what is released"},
                   {.name = "stream", .doc = "the stream that orders it"}},
      .results = ops::event_result(),
      .constraints = {{"free_c1", "A buffer and a stream.", ops::check_buffer},
                      {"free_c2", "The buffer is not a parameter: those belong to the caller.",
                       check_owned}},
      .gradient = ops::kNoHostGradient,
      .example = R"(mesh @m = <x=2>
host @f on @m (%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %s = stream "compute"
  %b = alloc on %s : tensor<4xf32>
  %t = alloc on %s : tensor<8xf32>
  free %t on %s
  return %b
})",
      .source = "Equivalent to: cudaFreeAsync",
      .assembly = "$buffer on $stream",
  };
}

}  // namespace hostir
