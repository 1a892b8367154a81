#include <fmt/core.h>

#include "hostir/ops/host.h"

namespace hostir {

namespace {

ops::Violated check_alloc_type(const OpCall& call) {
  if (!call.written.empty() && is_tensor(call.written[0])) return std::nullopt;
  return Violation{"alloc needs the type of the buffer: `alloc on %s : tensor<4xf32>`"};
}

ops::Violated check_storage(const OpCall& call) {
  if (const ops::Violated bad = ops::check_buffer_slot(call, "storage")) return bad;
  const auto storage = ops::first_in(call, "storage");
  if (!storage || call.written.empty()) return std::nullopt;
  const auto have = ops::known_bytes(*storage->type);
  const auto need = ops::known_bytes(call.written[0]);
  if (!have || !need || *have >= *need) return std::nullopt;
  return Violation{
      fmt::format("alloc needs {} bytes, but the buffer that it reuses has only {}", *need, *have),
      static_cast<int>(storage->index)};
}

Expected<std::vector<Type>> infer_alloc(const OpCall& call) {
  return std::vector<Type>{call.written[0], EventType{}};
}

}  // namespace

OpRecord op_alloc() {
  return {
      .mnemonic = "alloc",
      .op_class = OpClass::kHost,
      .shape = OpShape::kHost,
      .role = HostRole::kAlloc,
      .summary = "A new buffer, or new use of a released one's storage.",
      .doc = {.shapes = "The written type's.",
              .sharding = "That of the written type: `shard` gives each rank its box, `tensor` the "
                          "same shape on every rank.",
              .dtypes = "Any.",
              .cost = "Host issue cost (ns); memory of the local part (bytes)."},
      .operands = {{.name = "stream", .doc = "the stream that orders it"},
                   {.name = "storage",
                    .doc = "a buffer whose memory is used again",
                    .arity = OperandSpec::Arity::kOptional}},
      .results = {{.name = "buffer", .doc = "the buffer, contents undefined"},
                  {.name = "event", .doc = "completes when the memory may be used"}},
      .constraints = {{"alloc_c1", "The first operand is a stream.", ops::check_handles},
                      {"alloc_c2", "The result type is written, and is a tensor or a shard.",
                       check_alloc_type},
                      {"alloc_c3", "The storage is a buffer, no smaller than the new one.",
                       check_storage}},
      .infer = infer_alloc,
      .gradient = ops::kNoHostGradient,
      .example = R"(mesh @m = <x=2>
host @f on @m (%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %s = stream "compute"
  %b = alloc on %s : tensor<4xf32>
  return %b
})",
      .source = "Equivalent to: cudaMallocAsync",
      .assembly = "on $stream : type <over $storage>",
  };
}

}  // namespace hostir
