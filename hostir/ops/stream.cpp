#include <fmt/core.h>

#include "hostir/ops/host.h"

namespace hostir {

namespace {

ops::Violated check_unique(const OpCall& call) {
  const auto* own = call.attributes.get<std::string>("name");
  if (own == nullptr || call.function == nullptr) return std::nullopt;
  for (const Instruction& other : call.function->instructions) {
    if (&other == call.instruction) break;
    const auto* name = other.attributes.get<std::string>("name");
    if (other.kind == call.kind && name != nullptr && *name == *own) {
      return Violation{fmt::format("there is a stream \"{}\" already", *own)};
    }
  }
  return std::nullopt;
}

Expected<std::vector<Type>> infer_stream(const OpCall&) { return ops::inferred(StreamType{}); }

}  // namespace

OpRecord op_stream() {
  return {
      .mnemonic = "stream",
      .op_class = OpClass::kHost,
      .shape = OpShape::kHost,
      .role = HostRole::kStream,
      .summary = "A named queue of work on each rank; work on one stream runs in order.",
      .doc = {.shapes = ops::kNoLayout,
              .sharding = ops::kNoLayout,
              .dtypes = ops::kNoDTypes,
              .errors = "host_c1: at the top of the function.",
              .cost = ops::kStreamCost},
      .attributes = {{.name = "name",
                      .type = AttributeSpec::Type::kString,
                      .doc = "the name, shown in timelines",
                      .required = true}},
      .results = {{.name = "stream", .doc = "the stream"}},
      .constraints = {{"stream_c1", "Names of streams are unique in a function.", check_unique}},
      .infer = infer_stream,
      .gradient = ops::kNoHostGradient,
      .example = R"(mesh @m = <x=2>
host @f on @m (%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %s = stream "compute"
  %b = alloc on %s : tensor<4xf32>
  return %b
})",
      .source = "Equivalent to: cudaStreamCreate",
      .assembly = "#name",
  };
}

}  // namespace hostir
