#include "hostir/api/serve/command_data.h"

#include <fmt/core.h>

#include <cmath>

#include "interp/session/commands/rank_selection.h"
#include "interp/session/what_if/what_if.h"

namespace hostir::api {

namespace {

using interp::CommandKind;
using interp::Inside;
using interp::InsideOperand;
using interp::InsideTerm;
using interp::WhatIf;
using interp::WhatIfTrial;

// Clients read longer values as tensors.
constexpr int64_t kMaxElements = 1000;

Json known(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

template <class Items, class Convert>
Json list_json(const Items& items, Convert convert) {
  Json out = Json::array();
  for (const auto& item : items) out.push_back(convert(item));
  return out;
}

Json element_json(const Tensor& tensor, int64_t index) {
  if (tensor.dtype == DType::kU64) return static_cast<uint64_t>(tensor.get_int(index));
  if (!is_float(tensor.dtype)) return tensor.get_int(index);
  const double value = tensor.get_double(index);
  return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value));
}

Json printed_json(const interp::PrintedValue& value) {
  if (!value.reading) {
    return {{"value", value.name},
            {"rank", value.rank ? Json(*value.rank) : Json(nullptr)},
            {"error", value.reading.error().message()}};
  }
  Json out = value_json(value, *value.reading);
  const Tensor& tensor = value.reading->tensor;
  out["elements"] = nullptr;
  if (!value.reading->undefined && tensor.element_count() <= kMaxElements) {
    out["elements"] = Json::array();
    for (int64_t i = 0; i < tensor.element_count(); ++i)
      out["elements"].push_back(element_json(tensor, i));
  }
  return out;
}

Json operand_json(const InsideOperand& operand) {
  return {{"value", operand.value},
          {"of_host", operand.of_host},
          {"rank", operand.rank == interp::kNoRank ? Json(nullptr) : Json(operand.rank)},
          {"element", operand.element},
          {"place", operand.place},
          {"count", operand.count},
          {"number", known(operand.number)},
          {"not_finite", operand.not_finite}};
}

Json term_json(const InsideTerm& term) {
  return {{"number", term.number},
          {"operands", list_json(term.operands, operand_json)},
          {"text", term.text}};
}

Json step_json(const interp::InsideStep& step) {
  Json terms = nullptr;
  if (step.terms) {
    terms = {{"count", step.terms->count},
             {"products", step.terms->products},
             {"largest", list_json(step.terms->largest, term_json)},
             {"blocks",
              list_json(step.terms->blocks,
                        [](const interp::InsideBlock& block) -> Json {
                          return {{"first", block.first}, {"last", block.last}, {"sum", block.sum}};
                        })},
             {"not_finite",
              step.terms->not_finite ? term_json(*step.terms->not_finite) : Json(nullptr)}};
  }
  return {{"op", step.op},
          {"text", step.text},
          {"made", operand_json(step.made)},
          {"reads", list_json(step.reads, operand_json)},
          {"terms", std::move(terms)}};
}

Json addend_json(const interp::InsideAddend& addend) {
  return {{"source", operand_json(addend.source)},
          {"running", known(addend.running)},
          {"rounding", known(addend.rounding)}};
}

Json member_json(const interp::InsideMember& member) {
  return {{"rank", member.rank},
          {"state", member.state},
          {"text", member.text},
          {"in_bytes", member.in_bytes},
          {"out_bytes", member.out_bytes}};
}

std::string_view kind_word(Inside::Kind kind) {
  switch (kind) {
    case Inside::Kind::kNothing:
      return "nothing";
    case Inside::Kind::kLaunch:
      return "launch";
    case Inside::Kind::kCollective:
      return "collective";
  }
  return "";
}

Json inside_json(const Inside& inside) {
  return {{"kind", kind_word(inside.kind)},
          {"rank", inside.rank},
          {"at", inside.address},
          {"text", inside.text},
          {"value", known(inside.value)},
          {"values", inside.values},
          {"element", inside.element},
          {"moment", inside.moment},
          {"number", known(inside.number)},
          {"held", known(inside.held)},
          {"ran_whole", inside.ran_whole},
          {"provisional", inside.provisional},
          {"how", known(inside.how)},
          {"steps", list_json(inside.steps, step_json)},
          {"addends", list_json(inside.addends, addend_json)},
          {"members", list_json(inside.members, member_json)},
          {"facts", list_json(inside.facts,
                              [](const interp::InsideFact& fact) -> Json {
                                return {{"name", fact.name}, {"text", fact.text}};
                              })},
          {"notes", inside.notes}};
}

std::string_view kind_word(interp::DiffLine::Kind kind) {
  switch (kind) {
    case interp::DiffLine::Kind::kSame:
      return "same";
    case interp::DiffLine::Kind::kRemoved:
      return "removed";
    case interp::DiffLine::Kind::kAdded:
      return "added";
  }
  return "";
}

Json trial_json(const WhatIfTrial& trial) {
  return {{"sentence", trial.edit.sentence},
          {"verdict", name(trial.verdict)},
          {"good", trial.good()},
          {"why", known(trial.why)},
          {"warnings", trial.warnings},
          {"tests", trial.claims.tests},
          {"failed_tests", trial.claims.failures},
          {"line", trial.edit.line},
          {"text", trial.edit.text},
          {"diff", list_json(trial.edit.diff, [](const interp::DiffLine& line) -> Json {
             return {{"kind", kind_word(line.kind)}, {"line", line.number}, {"text", line.text}};
           })}};
}

Json what_if_json(const WhatIf& found) {
  return {{"stop", found.stop},
          {"conclusion", found.conclusion},
          {"completes", found.completes},
          {"proposed", found.proposed},
          {"unchanged_completes", found.unchanged_completes},
          {"cancelled", found.cancelled},
          {"of_given", found.of_given},
          {"file", found.file},
          {"leaks", known(found.leaks)},
          {"trials", list_json(found.trials, trial_json)}};
}

Expected<Json> backtrace_json(const interp::Snapshot& snapshot, const interp::Command& command) {
  HOSTIR_ASSIGN_OR_RETURN(const auto ranks, interp::select_ranks(command.ranks, snapshot));
  const Json all = topic_json(interp::InfoTopic::kRanks, "", snapshot);
  return list_json(ranks, [&](interp::Rank rank) { return all[static_cast<size_t>(rank)]; });
}

Expected<Json> listed_json(const interp::Snapshot& snapshot, const interp::Command& command) {
  HOSTIR_ASSIGN_OR_RETURN(const interp::ListedLines listed, interp::read_listed(snapshot, command));
  return Json{{"file", listed.file},
              {"first", listed.first},
              {"lines", listed.lines},
              {"here", listed.here == 0 ? Json(nullptr) : Json(listed.here)}};
}

Expected<Json> data_of(const interp::Session& session, const interp::Command& command) {
  const interp::SnapshotPtr snapshot = session.snapshot();
  if (command.topic) return topic_json(*command.topic, command.value, *snapshot);
  if (command.kind == CommandKind::kBacktrace) return backtrace_json(*snapshot, command);
  if (command.kind == CommandKind::kList) return listed_json(*snapshot, command);
  return Json(nullptr);
}

}  // namespace

Json value_json(const interp::PrintedValue& value, const interp::ValueReading& reading) {
  Json out;
  out["value"] = value.name;
  out["rank"] = value.rank ? Json(*value.rank) : Json(nullptr);
  out["dtype"] = name(reading.tensor.dtype);
  out["shape"] = reading.tensor.extents;
  out["type"] = to_string(reading.type);
  const Sharding* sharding = sharding_of(reading.type);
  out["pytorch"] = sharding ? Json(sharding->to_pytorch()) : Json(nullptr);
  out["global_shape"] = reading.placement.global;
  out["box"] = box_json(reading.box);
  out["version"] = reading.version;
  out["written"] = !reading.undefined;
  out["write_in_flight"] = reading.write_in_flight;
  out["notes"] = reading.notes;
  return out;
}

Expected<CommandResult> carry_out(interp::Session& session, const interp::Command& command,
                                  const std::stop_token& stop) {
  CommandResult out;
  switch (command.kind) {
    case CommandKind::kPrint:
    case CommandKind::kExamine: {
      HOSTIR_ASSIGN_OR_RETURN(const auto printed, interp::read_printed(session, command));
      out.outcome.text = interp::printed_text(printed, command);
      out.data = list_json(printed, printed_json);
      return out;
    }
    case CommandKind::kInside: {
      HOSTIR_ASSIGN_OR_RETURN(const auto found, interp::read_inside(session, command));
      out.outcome.text = interp::insides_text(found);
      out.data = list_json(found, inside_json);
      return out;
    }
    case CommandKind::kWhatIf: {
      interp::WhatIfOptions options;
      options.stop = stop;
      HOSTIR_ASSIGN_OR_RETURN(const WhatIf found, session.what_if(*session.snapshot(), options));
      out.outcome.text = interp::to_text(found);
      out.data = what_if_json(found);
      return out;
    }
    default: {
      HOSTIR_ASSIGN_OR_RETURN(out.outcome, session.execute(command, stop));
      HOSTIR_ASSIGN_OR_RETURN(out.data, data_of(session, command));
      return out;
    }
  }
}

}  // namespace hostir::api
