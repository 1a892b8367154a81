#include <fmt/core.h>

#include <set>

#include "hostir/ops/collective.h"

namespace hostir {

namespace {

ops::Violated check_routes(const OpCall& call) {
  if (call.attributes.has("shift") != call.attributes.has("pairs")) return std::nullopt;
  return Violation{"permute needs exactly one of shift and pairs"};
}

ops::Violated check_pairs(const OpCall& call) {
  const auto* pairs = call.attributes.get<IntLists>("pairs");
  if (pairs == nullptr) return std::nullopt;
  const auto members = ops::member_count(call);
  std::set<int64_t> sources;
  std::set<int64_t> targets;
  for (const auto& pair : *pairs) {
    if (pair.size() != 2) return Violation{"permute: a pair is [source, target]"};
    for (const int64_t position : pair) {
      if (position < 0 || (members && position >= *members)) {
        return Violation{
            fmt::format("permute: {} is not a position in the communicator", position)};
      }
    }
    if (!sources.insert(pair[0]).second) {
      return Violation{fmt::format("permute: position {} sends twice", pair[0])};
    }
    if (!targets.insert(pair[1]).second) {
      return Violation{fmt::format("permute: position {} receives twice", pair[1])};
    }
  }
  return std::nullopt;
}

}  // namespace

OpRecord op_permute() {
  return {
      .mnemonic = "permute",
      .op_class = OpClass::kCommunication,
      .shape = OpShape::kHost,
      .summary =
          "Each member sends its buffer to one other; a position that nobody sends to gets zeros.",
      .doc = {.shapes = "Sender and receiver have the same extents.",
              .sharding = "The same cut with the members in another order.",
              .dtypes = ops::kAnyDType,
              .cost = ops::kCollectiveCost},
      .operands = ops::collective_operands(),
      .attributes = {{.name = "shift",
                      .type = AttributeSpec::Type::kExpr,
                      .doc = "position p sends to p + shift, modulo the members"},
                     {.name = "pairs",
                      .type = AttributeSpec::Type::kIntLists,
                      .doc = "[source, target] positions"}},
      .results = ops::event_result(),
      .constraints = {{"permute_c1", ops::kHandles, ops::check_handles},
                      {"permute_c2", ops::kForm, ops::check_form},
                      {"permute_c3", ops::kDTypes, ops::check_dtypes},
                      {"permute_c4", ops::kSameElements, ops::check_elements<ops::Extent::kSame>},
                      {"permute_c5", "Exactly one of shift and pairs is given.", check_routes},
                      {"permute_c6",
                       "Pairs are [source, target]; no position sends or receives twice.",
                       check_pairs}},
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
  permute %c shift(1) ro(%a) wo(%b) on %s
  return %b
})",
      .source = "Equivalent to: grouped ncclSend and ncclRecv; StableHLO spec, collective_permute",
      .assembly = "$comm <shift(#shift)> <pairs #pairs> $input $output $buffer on $stream",
  };
}

}  // namespace hostir
