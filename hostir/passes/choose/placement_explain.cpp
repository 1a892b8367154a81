// What OpChooser considered and did not choose, for explanations.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hostir/passes/choose/factor_moves.h"
#include "hostir/passes/choose/placement_choice.h"
#include "hostir/passes/meshes/mesh_moves.h"
#include "hostir/support/lists.h"
#include "hostir/support/text.h"

namespace hostir {

// Every candidate, however expensive, with its operands reduced and with partial ones.
std::vector<OpChoice> OpChooser::considered(const Instruction& i) const {
  std::vector<OpChoice> out;
  const auto rule = rule_of(program_, source_, i);
  if (!rule) return out;
  const std::optional<Partial> partial = partial_operands(i);
  const auto add = [&](const ShardingRule& by) {
    for (const FactorCuts& axes : candidates(i, by).axes) {
      for (const Partial* consumed :
           {static_cast<const Partial*>(nullptr), partial ? &*partial : nullptr}) {
        auto choice = evaluate(i, by, axes, consumed, std::numeric_limits<double>::infinity());
        if (choice) out.push_back(std::move(*choice));
        if (!partial) break;
      }
    }
  };
  add(*rule);
  if (!rule->shifts.empty()) add(with_shifts_cut(*rule));
  return out;
}

double OpChooser::bytes_moved(const Instruction& i, const OpChoice& choice) const {
  double out = 0;
  for (size_t o = 0; o < i.operands.size(); ++o) {
    const auto is_same = [&](size_t other) {
      return i.operands[other].value == i.operands[o].value &&
             choice.operands[other] == choice.operands[o];
    };
    size_t first = 0;
    while (!is_same(first)) ++first;
    if (first == o) out += versions_.bytes(i.operands[o].value, choice.operands[o]);
  }
  for (size_t r = 0; r < i.results.size(); ++r) {
    const Sharding& held = choice.results[r];
    const TensorType& type = tensor_type(source_, i.results[r]);
    const Sharding needed = needed_after(i.results[r]).value_or(reduced(held));
    const Redistribution& plan = moves_.plan(type, held, needed);
    const Sharding* at = &held;
    for (const RedistributeStep& step : plan.steps) {
      out += moves_.cost().step_bytes(type, *at, step);
      at = &step.to;
    }
  }
  return out;
}

// `[{dp}, {tp}] from %x [{dp}, {}] and %w [{}, {tp}]`.
std::string OpChooser::choice_text(const Instruction& i, const OpChoice& choice) const {
  std::vector<std::string> operands;
  for (size_t o = 0; o < i.operands.size(); ++o) {
    operands.push_back(fmt::format("%{} {}", source_.value(i.operands[o].value).name,
                                   choice.operands[o].dims_to_string()));
  }
  std::vector<std::string> results;
  for (const Sharding& s : choice.results) results.push_back(s.dims_to_string());
  return fmt::format("{} from {}", fmt::join(results, ", "), fmt::join(operands, " and "));
}

std::string OpChooser::costs_text(const Instruction& i, const OpChoice& choice) const {
  return fmt::format("{}; {} of work in {} part{}",
                     cost_text(choice.cost_ns, choice.collectives, bytes_moved(i, choice)),
                     time_text(work_ns(i, choice)), choice.parts, choice.parts == 1 ? "" : "s");
}

std::optional<ExplainRecord> OpChooser::explained(const Instruction& i, const OpChoice& choice,
                                                  const std::string& by) const {
  const double moved = bytes_moved(i, choice);
  ExplainRecord out{
      .value = {},
      .what = choice_text(i, choice),
      .sentence = fmt::format("{} takes about {}{}", by, costs_text(i, choice),
                              costed_on(moves_.machine().name, moves_.cost().scale())),
      .from = {},
      .pass = "cut"};
  const auto why = [&](const OpChoice& other) {
    if (other.cost_ns >= choice.cost_ns) return "";
    if (other.collectives > choice.collectives) return "saves too little for more collectives";
    if (other.parts < choice.parts) return "saves too little for fewer parts";
    return "saves too little for a cut that no tensor has";
  };
  for (const OpChoice& other : considered(i)) {
    out.lost.push_back({choice_text(i, other), other.cost_ns, bytes_moved(i, other),
                        costs_text(i, other), why(other)});
  }
  out.lost = cheapest_few(std::move(out.lost), out.what);
  const OpRecord& op = record(i.kind);
  const OpShape shape = op.shape;
  // Which elements it reads is data, so the record says more than the rule.
  if (shape == OpShape::kIndexed && moved > 0) {
    std::string_view cuts = op.doc.sharding;
    if (cuts.ends_with('.')) cuts.remove_suffix(1);
    out.sentence += fmt::format(". How {} may be cut: {}", op.mnemonic, cuts);
  }
  const bool is_clear = moved == 0 && (out.lost.empty() || out.lost.front().why.empty());
  if (out.lost.empty() || (is_clear && shape != OpShape::kContraction)) return std::nullopt;
  return out;
}

ExplainRecord why_partial(const Function& source, const Instruction& i, const OpChoice& choice,
                          size_t r, const std::string& by) {
  const AxisList& axes = choice.results[r].unreduced;
  std::string cut, partial;
  for (size_t o = 0; o < i.operands.size(); ++o) {
    const Sharding& held = choice.operands[o];
    const auto has = [&](const AxisList& list) { return contains(list, axes.front()); };
    const bool is_cut = std::any_of(held.dims.begin(), held.dims.end(),
                                    [&](const DimSharding& d) { return has(d.axes); });
    std::string& list = has(held.unreduced) ? partial : cut;
    if (!is_cut && !has(held.unreduced)) continue;
    list += (list.empty() ? "%" : " and %") + source.value(i.operands[o].value).name;
  }
  return {.value = {},
          .what = fmt::format("unreduced {} over {}", name(choice.results[r].unreduced_kind),
                              axes_to_string(axes)),
          .sentence = partial.empty()
                          ? fmt::format("{} reduces a dimension that is cut in {}, so every rank "
                                        "has a part of the result",
                                        by, cut.empty() ? "its operands" : cut)
                          : fmt::format("{} keeps the addends of {}", by, partial),
          .from = {},
          .pass = "reshard"};
}

}  // namespace hostir
