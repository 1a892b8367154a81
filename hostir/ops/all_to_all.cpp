#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/collective.h"
#include "hostir/ops/integer_list.h"

namespace hostir {

namespace {

// Of a list, only the interpreter knows how many integers it has.
bool has_list(const OpCall& call, const ExprList& counts) {
  return std::any_of(counts.begin(), counts.end(), [&](const IndexExpr& count) {
    if (count.kind() != IndexExpr::Kind::kName || call.function == nullptr) return false;
    const auto value = call.function->find_value(count.symbol());
    return value && ops::is_integer_list(*call.function, *value);
  });
}

ops::Violated check_count(const OpCall& call, std::string_view attribute) {
  const auto* counts = call.attributes.get<ExprList>(attribute);
  const auto members = ops::member_count(call);
  if (counts == nullptr) return std::nullopt;
  const bool differs = members && static_cast<int64_t>(counts->size()) != *members;
  if (differs && !has_list(call, *counts)) {
    return Violation{
        fmt::format("all_to_all over {} members has {} {}", *members, counts->size(), attribute)};
  }
  for (const IndexExpr& count : *counts) {
    const IndexExpr rows = count.simplified();
    if (rows.is_const() && rows.value() < 0) {
      return Violation{fmt::format("all_to_all sends {} rows", rows.value())};
    }
  }
  return std::nullopt;
}

ops::Violated check_all_to_all_counts(const OpCall& call) {
  const ops::Violated sent = check_count(call, "counts");
  return sent ? sent : check_count(call, "receives");
}

}  // namespace

OpRecord op_all_to_all() {
  return {
      .mnemonic = "all_to_all",
      .op_class = OpClass::kCommunication,
      .shape = OpShape::kHost,
      .summary = "Every member sends one block to each member and gets one from each.",
      .doc = {.shapes =
                  "Blocks along dimension 0 in group order. `counts` gives the rows sent to each "
                  "member; without it, all blocks are equal. A list from `read` stands for all its "
                  "integers.",
              .sharding = "From a cut over one dimension to a cut over another, between pack and "
                          "unpack.",
              .dtypes = ops::kAnyDType,
              .cost = ops::kCollectiveCost},
      .operands = ops::collective_operands(),
      .attributes = {{.name = "counts",
                      .type = AttributeSpec::Type::kExprs,
                      .doc = "rows sent to each member; equal blocks without it"},
                     {.name = "receives",
                      .type = AttributeSpec::Type::kExprs,
                      .doc = "rows received from each member; without it, every member is assumed "
                             "to send by this instruction's counts"}},
      .results = ops::event_result(),
      .constraints = {{"all_to_all_c1", ops::kHandles, ops::check_handles},
                      {"all_to_all_c2", ops::kForm, ops::check_form},
                      {"all_to_all_c3", ops::kDTypes, ops::check_dtypes},
                      {"all_to_all_c4",
                       "counts and receives have one number of rows for each member, 0 or more.",
                       check_all_to_all_counts}},
      .communication = {.family = Communication::Family::kExchange,
                        .steps = Communication::Steps::kRing,
                        .wire = Communication::Wire::kOthers,
                        .glyph = "\u21c4"},
      .gradient = "none: communication is differentiated in the fusion, before lowering",
      .example = R"(mesh @m = <x=2>
host @f on @m (%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %c = comm over {x}
  %s = stream "comm"
  %b = alloc on %s : tensor<4xf32>
  all_to_all %c ro(%a) wo(%b) on %s
  return %b
})",
      .source = "Equivalent to: ncclAlltoAll; with counts as grouped ncclSend and ncclRecv",
      .assembly = "$comm <counts(#counts)> <receives(#receives)> $input $output $buffer on $stream",
  };
}

}  // namespace hostir
