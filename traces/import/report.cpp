// Formats the verdicts of opened dumps as text and as JSON.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "hostir/support/json_text.h"
#include "interp/diagnose/recorded_text.h"
#include "interp/diagnose/sentences.h"
#include "interp/diagnose/user_frame.h"
#include "traces/import/open_dumps.h"

namespace hostir::traces::import {

namespace {

using nlohmann::ordered_json;

ordered_json place_json(const model::SourcePlace& place, const std::string& function) {
  ordered_json out = {{"file", place.file}};
  out["line"] = place.line ? ordered_json(*place.line) : ordered_json(nullptr);
  out["function"] = function;
  return out;
}

ordered_json call_json(const model::Run& run, const diagnose::MemberRef& ref) {
  if (ref.member == nullptr) return nullptr;
  ordered_json out;
  out["rank"] = ref.member->rank;
  out["call"] = model::call_text(ref.member->call);
  out["kind"] = model::kind_text(ref.member->call);
  out["communicator"] = diagnose::communicator_name(run, ref.communicator());
  out["sequence"] = ref.sequence();
  out["state"] = model::name(ref.member->state);
  if (ref.pair != nullptr) {
    out["source"] = ref.pair->source;
    out["target"] = ref.pair->target;
  }
  out["frame"] = nullptr;
  out["stack"] = ordered_json::array();
  const model::Instruction* instruction = run.find(ref.member->instruction);
  if (instruction == nullptr) return out;
  for (const model::StackFrame& frame : instruction->frames) {
    if (!diagnose::is_user_frame(frame)) continue;
    if (out["stack"].empty()) out["frame"] = place_json(frame.place, frame.function);
    out["stack"].push_back(place_json(frame.place, frame.function));
  }
  return out;
}

ordered_json ranks_json(const model::Run& run) {
  ordered_json out = ordered_json::array();
  for (size_t r = 0; r < run.ranks.size(); ++r) {
    const model::RankFacts& facts = run.ranks[r];
    ordered_json rank = {{"rank", r}, {"record", model::name(facts.record)}};
    if (!facts.found_by.empty()) rank["found_by"] = facts.found_by;
    if (!facts.computer.empty()) rank["computer"] = facts.computer;
    out.push_back(std::move(rank));
  }
  return out;
}

void add_verdict(const model::Run& run, const diagnose::RecordedVerdict& verdict,
                 const std::string& trial, ordered_json& out) {
  out["kind"] = diagnose::name(verdict.charge);
  out["sentence"] = verdict.sentence;
  out["culprits"] = verdict.culprits;
  out["suspects"] = verdict.suspects;
  out["waiting"] = verdict.waiting;
  out["communicator"] = run.find(verdict.communicator)
                            ? ordered_json(diagnose::communicator_name(run, verdict.communicator))
                            : ordered_json(nullptr);
  out["sequence"] = verdict.sequence ? ordered_json(*verdict.sequence) : ordered_json(nullptr);
  out["at"] = call_json(run, verdict.at);
  out["missing"] = call_json(run, verdict.missing);
  out["repair"] = verdict.repair_text;
  out["trial"] = trial;
}

// What a member called, and where: `all_reduce f32[100] at fr.py:7 in ar`; "not there" if it did
// not come.
std::string act_of(const model::Run& run, const diagnose::MemberRef& ref) {
  if (ref.member->state == model::MemberState::kNotArrived) return "not there";
  if (!ref.member->arrived()) return "not known";
  return model::call_text(ref.member->call) + diagnose::at_stack(run, ref);
}

// Members that did the same are named together, most first.
std::string acts_text(const model::Run& run, const std::vector<diagnose::MemberRef>& members) {
  std::vector<std::pair<std::string, std::vector<model::Rank>>> acts;
  for (const diagnose::MemberRef& ref : members) {
    const std::string act = act_of(run, ref);
    const auto at = std::find_if(acts.begin(), acts.end(),
                                 [&](const auto& known) { return known.first == act; });
    if (at == acts.end()) {
      acts.push_back({act, {ref.member->rank}});
    } else {
      at->second.push_back(ref.member->rank);
    }
  }
  std::stable_sort(acts.begin(), acts.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  std::string out;
  for (auto& [act, ranks] : acts) {
    std::sort(ranks.begin(), ranks.end());
    out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", model::list_of(ranks), act);
  }
  return out;
}

}  // namespace

std::vector<CallAtFault> calls_at_fault(const OpenedDumps& opened) {
  std::vector<CallAtFault> out;
  const model::Run& run = *opened.run;
  const auto add = [&](const diagnose::MemberRef& ref) {
    const model::Communicator* group =
        ref.member == nullptr ? nullptr : run.find(ref.communicator());
    if (group == nullptr) return;
    CallAtFault call{group->name, ref.sequence(), ref.pair != nullptr, {}};
    std::vector<diagnose::MemberRef> members;
    if (call.pair) {
      members = {{nullptr, ref.pair, &ref.pair->send}, {nullptr, ref.pair, &ref.pair->recv}};
      call.text = fmt::format("rank {} to rank {}", ref.pair->source, ref.pair->target);
    } else {
      for (const model::Member& member : ref.meeting->members)
        members.push_back({ref.meeting, nullptr, &member});
      call.text = fmt::format("seq {}", call.sequence);
    }
    call.text += fmt::format(" on {}: {}", diagnose::communicator_name(run, ref.communicator()),
                             acts_text(run, members));
    const bool known = std::any_of(out.begin(), out.end(),
                                   [&](const CallAtFault& each) { return each.text == call.text; });
    if (!known) out.push_back(std::move(call));
  };
  const diagnose::RecordedVerdict& verdict = opened.verdict.accusation();
  if (!verdict.is_fault()) return out;
  add(verdict.at);
  add(verdict.missing);
  return out;
}

std::string notes_text(const OpenedDumps& opened) {
  const diagnose::RecordedVerdict& verdict = opened.verdict;
  std::string out;
  for (const std::string& note : verdict.notes) out += "note: " + note + "\n";
  for (const std::string& text : verdict.not_known) out += "not known: " + text + "\n";
  for (const std::string& note : opened.notes) out += "note: " + note + "\n";
  return out;
}

std::string to_text(const OpenedDumps& opened, const std::string& trial) {
  return opened.verdict.sentence + "\n" + (trial.empty() ? "" : trial + "\n") + notes_text(opened);
}

std::string to_json(const OpenedDumps& opened, const std::string& trial) {
  const diagnose::RecordedVerdict& verdict = opened.verdict;
  const model::Run& run = *opened.run;
  ordered_json out;
  out["producer"] = run.producer.name;
  out["version"] = run.producer.version;
  out["files"] = run.producer.files;
  out["fault"] = verdict.is_fault();
  add_verdict(run, verdict, verdict.if_stuck ? "" : trial, out);
  out["if_stuck"] = nullptr;
  if (verdict.if_stuck) add_verdict(run, *verdict.if_stuck, trial, out["if_stuck"]);
  out["ranks"] = ranks_json(run);
  out["not_known"] = verdict.not_known;
  std::vector<std::string> notes = verdict.notes;
  notes.insert(notes.end(), opened.notes.begin(), opened.notes.end());
  out["notes"] = notes;
  return json_text(out, 1) + "\n";
}

}  // namespace hostir::traces::import
