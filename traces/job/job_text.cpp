// Formats the facts about a job as text, as JSON, and as texts for its log.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "hostir/support/json_text.h"
#include "interp/diagnose/calls/user_frame.h"
#include "interp/diagnose/text/recorded_text.h"
#include "interp/diagnose/text/sentences.h"
#include "traces/job/open_job.h"
#include "traces/profile/open_profiles.h"
#include "traces/profile/profile_json.h"

namespace hostir::traces {

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

// A member's call and its place: `all_reduce f32[100] at fr.py:7 in ar`; "not there" if it did not
// come.
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

// True if all members made the same call: nothing is wrong with it.
bool is_whole(const diagnose::MemberRef& ref) {
  if (ref.meeting == nullptr) return false;
  const std::vector<model::Member>& members = ref.meeting->members;
  return std::all_of(members.begin(), members.end(), [&](const model::Member& m) {
    return m.arrived() && model::call_text(m.call) == model::call_text(members.front().call);
  });
}

// The wrong call, and the one in whose place it was made or that is missing.
std::vector<CallAtFault> calls_at_fault(const import::OpenedDumps& opened) {
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
  if (!verdict.is_fault() && !verdict.unknown) return out;
  // If a rank left out a call, all members may have made its next one, which is then not at fault.
  if (verdict.missing.member == nullptr || !is_whole(verdict.at)) add(verdict.at);
  add(verdict.missing);
  return out;
}

std::vector<std::string> notes_of(const OpenedJob& job) {
  std::vector<std::string> out = job.dumps.verdict.notes;
  for (const auto& more : {job.dumps.notes, job.dumps.skipped.notes()})
    out.insert(out.end(), more.begin(), more.end());
  return out;
}

ordered_json skipped_json(const OpenedJob& job) {
  ordered_json out = ordered_json::array();
  for (const import::SkippedFile& file : job.dumps.skipped.files())
    out.push_back({{"file", file.path}, {"why", file.why}});
  return out;
}

}  // namespace

namespace {

std::optional<int64_t> ended_unix_ns(const model::Run& run) {
  if (!run.oldest_call_ns) return std::nullopt;
  std::optional<int64_t> oldest;
  const auto note = [&](const model::Member& member) {
    const auto& issued = member.times.issued_ns;
    if (member.unfinished() && issued) oldest = std::min(oldest.value_or(*issued), *issued);
  };
  for (const model::Meeting& meeting : run.meetings) {
    for (const model::Member& member : meeting.members) note(member);
  }
  for (const model::SendRecv& pair : run.pairs) {
    note(pair.send);
    note(pair.recv);
  }
  if (oldest) *oldest += *run.oldest_call_ns;
  return oldest;
}

}  // namespace

JobFindings findings_of(const OpenedJob& job) {
  JobFindings out;
  out.notes = notes_of(job);
  if (job.profile) {
    out.profile = profile::sentence(*job.profile);
    out.notes.insert(out.notes.end(), job.profile->notes.begin(), job.profile->notes.end());
  }
  if (job.dumps.run == nullptr) return out;
  const diagnose::RecordedVerdict& verdict = job.dumps.verdict;
  using Holds = JobFindings::Holds;
  const bool open = verdict.if_stuck || verdict.unknown;
  out.holds = verdict.is_fault() ? Holds::kAlways : open ? Holds::kOpen : Holds::kNever;
  out.verdict = verdict.sentence;
  out.trial = job.trial.sentence;
  for (const std::string& text : verdict.not_known) out.notes.push_back("not known: " + text);
  out.at_fault = calls_at_fault(job.dumps);
  out.ended_unix_ns = ended_unix_ns(*job.dumps.run);
  return out;
}

std::string headline(const OpenedJob& job) {
  return job.dumps.run ? job.dumps.verdict.sentence : profile::sentence(*job.profile);
}

std::string rest(const OpenedJob& job) {
  std::string out;
  if (!job.trial.sentence.empty()) out += job.trial.sentence + "\n";
  if (job.dumps.run == nullptr) out += profile::details_text(*job.profile);
  for (const std::string& note : notes_of(job)) out += "note: " + note + "\n";
  for (const std::string& text : job.dumps.verdict.not_known) out += "not known: " + text + "\n";
  if (job.dumps.run != nullptr && job.profile)
    out += "\n" + profile::sentence(*job.profile) + "\n" + profile::details_text(*job.profile);
  return out;
}

std::string to_json(const OpenedJob& job) {
  ordered_json profile = job.profile ? profile::json_of(*job.profile) : ordered_json(nullptr);
  std::vector<std::string> notes = notes_of(job);
  if (job.dumps.run == nullptr) {
    for (std::string& note : notes) profile["notes"].push_back(std::move(note));
    profile["skipped"] = skipped_json(job);
    return json_text(profile, 1) + "\n";
  }
  const diagnose::RecordedVerdict& verdict = job.dumps.verdict;
  const model::Run& run = *job.dumps.run;
  const std::string& trial = job.trial.sentence;
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
  out["notes"] = std::move(notes);
  out["skipped"] = skipped_json(job);
  out["profile"] = std::move(profile);
  return json_text(out, 1) + "\n";
}

}  // namespace hostir::traces
