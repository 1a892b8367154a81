#include <fmt/core.h>

#include "hostir/ops/host.h"

namespace hostir {

namespace {

ops::Violated check_reinterpret_type(const OpCall& call) {
  if (!call.written.empty() && is_tensor(call.written[0])) return std::nullopt;
  return Violation{"reinterpret needs the new type: `reinterpret %b : tensor<4xf32>`"};
}

ops::Violated check_bytes(const OpCall& call) {
  if (call.written.empty() || ops::only_buffer(call) == nullptr) return std::nullopt;
  const auto have = ops::known_bytes(call.operands[0]);
  const auto want = ops::known_bytes(call.written[0]);
  if (!have || !want || *have == *want) return std::nullopt;
  return Violation{
      fmt::format("reinterpret of {} bytes as {} bytes; both types must have the same size", *have,
                  *want),
      0};
}

Expected<std::vector<Type>> infer_reinterpret(const OpCall& call) {
  return ops::inferred(call.written[0]);
}

}  // namespace

OpRecord op_reinterpret() {
  return {
      .mnemonic = "reinterpret",
      .op_class = OpClass::kHost,
      .shape = OpShape::kHost,
      .role = HostRole::kView,
      .summary = "The bytes of a buffer under another type, sharing its memory.",
      .doc = {.shapes = "That of the written type, which must have as many bytes as the buffer on "
                        "every rank.",
              .sharding = "The written type's.",
              .dtypes = "The written type's.",
              .cost = "None: no work."},
      .operands = {{.name = "buffer", .doc = "what is viewed"}},
      .results = {{.name = "view", .doc = "the view"}},
      .constraints = {{"reinterpret_c1", "The operand is a buffer.", ops::check_buffer},
                      {"reinterpret_c2", "The result type is written, and is a tensor or a shard.",
                       check_reinterpret_type},
                      {"reinterpret_c3",
                       "Both have the same number of bytes, where these are known.", check_bytes}},
      .infer = infer_reinterpret,
      .gradient = ops::kNoHostGradient,
      .example = R"(mesh @m = <x=2>
host @f on @m (%a: tensor<2x6xf32>) -> (%b: tensor<3x4xf32>) {
  %s = stream "compute"
  %t = alloc on %s : tensor<2x6xf32>
  %b = reinterpret %t : tensor<3x4xf32>
  return %b
})",
      .source = "MLIR's memref.reinterpret_cast",
      .assembly = "$buffer : type",
  };
}

}  // namespace hostir
