#include "traces/skeleton/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "hostir/support/lists.h"
#include "interp/diagnose/calls/call_order.h"
#include "interp/diagnose/calls/common_past.h"
#include "interp/diagnose/calls/continuation.h"
#include "interp/diagnose/text/recorded_text.h"
#include "interp/session/answers/fault_names.h"
#include "interp/session/what_if/what_if_trial.h"
#include "traces/skeleton/trial_words.h"

namespace hostir::traces {

namespace {

using interp::WhatIfTrial;
using interp::what_if_parts::TrialResult;
using interp::what_if_parts::TrialSetup;

constexpr size_t kMostTried = 50'000;  // calls; a text of this size compiles in seconds
constexpr size_t kMostWhole = 5'000;   // calls; a longer record is cut to what can matter

bool hangs(const TrialResult& result) {
  return result.verdict == WhatIfTrial::Verdict::kHangs ||
         result.verdict == WhatIfTrial::Verdict::kMismatch;
}

TrialResult run_calls(const model::Run& run, const diagnose::JobCalls& job,
                      const std::string& title, const interp::BackendFactory& make_backend,
                      double max_seconds) {
  const Skeleton skeleton = skeleton_of(run, job, title);
  TrialSetup setup;
  setup.file = "job.hir";
  setup.function = "job";
  setup.make_backend = make_backend;
  setup.backend.machine = default_machine();
  setup.max_seconds = max_seconds;
  TrialResult result = interp::what_if_parts::try_text(skeleton.text, setup, {});
  if (hangs(result)) {
    const bool stuck = result.verdict == WhatIfTrial::Verdict::kHangs;
    result.why =
        fmt::format("{}: {}", interp::fault_name(stuck ? "deadlock" : "collective_mismatch"),
                    stop_sentence(run, job, skeleton, *result.shot->run));
  }
  return result;
}

size_t calls_in(const diagnose::JobCalls& job) {
  size_t calls = 0;
  for (const auto& line : job) calls += line.size();
  return calls;
}

// A call on a group by a rank that is not one of its members cannot be simulated; empty if there is
// none.
std::string call_of_a_stranger(const model::Run& run,
                               const std::vector<std::vector<diagnose::MemberRef>>& calls) {
  for (const auto& line : calls) {
    std::set<model::CommunicatorId> own;
    for (const diagnose::MemberRef& call : line) {
      if (!own.insert(call.communicator()).second) continue;
      const model::Communicator* group = run.find(call.communicator());
      if (group == nullptr || !group->members || contains(*group->members, call.member->rank))
        continue;
      return fmt::format("rank {} calls {}, but is not one of its members", call.member->rank,
                         diagnose::call_name(run, call));
    }
  }
  return {};
}

// The size of a send or recv is only recorded if its rank made it.
std::string call_of(const model::Run& run, const diagnose::MemberRef& ref) {
  return ref.pair != nullptr ? diagnose::short_call_name(run, ref) : diagnose::call_name(run, ref);
}

// A rank without a record made the calls of the group before the one that it did not reach, even if
// nobody saw all of them end.
bool came_before(const model::Run& run, const diagnose::RecordedVerdict& verdict, model::Rank rank,
                 const diagnose::MemberRef& call) {
  const diagnose::MemberRef& missing = verdict.missing;
  return missing.meeting != nullptr && call.meeting != nullptr &&
         call.communicator() == missing.communicator() && call.sequence() < missing.sequence() &&
         run.find(rank)->record == model::RecordState::kMissing;
}

// `with A before B` names calls of one group by their sizes.
bool tells(const std::string& repair_text, const model::Run& run, const diagnose::MemberRef& call) {
  const auto has = [&](const std::string& text) {
    return repair_text.find(text) != std::string::npos;
  };
  return has(diagnose::short_call_name(run, call)) ||
         (has(" before ") && has(model::call_text(call.member->call) + " "));
}

// The calls that the repair adds, beyond its edits, on the ranks that it edits: a rank continues to
// the calls in which others wait. A rank without a record has made those that completed.
// Calls in another order are only told once.
std::string continuation_text(const model::Run& run, const diagnose::RecordedVerdict& verdict,
                              const diagnose::JobCalls& repaired) {
  if (verdict.charge == diagnose::Charge::kOrder || verdict.charge == diagnose::Charge::kSwapped ||
      verdict.charge == diagnose::Charge::kWrongGroup)
    return {};
  constexpr size_t kMostNamed = 2;
  std::vector<model::Rank> ranks;
  std::vector<std::string> told;  // by the edits
  for (const diagnose::CallEdit& edit : verdict.repair) {
    insert_once(ranks, edit.rank);
    if (edit.kind == diagnose::CallEdit::Kind::kAdd)
      told.push_back(call_of(run, diagnose::as_made_by(edit.rank, edit.pattern)));
  }
  std::vector<std::string> calls;
  std::vector<model::Rank> makers;
  size_t count = 0;
  for (const model::Rank rank : ranks) {
    std::vector<std::string> left = told;
    for (const diagnose::JobCall& call : repaired[static_cast<size_t>(rank)]) {
      if (!diagnose::is_continuation(call) || call.completed) continue;
      const diagnose::MemberRef made = diagnose::as_made_by(rank, call.from);
      if (came_before(run, verdict, rank, made)) continue;
      std::string name = call_of(run, made);
      if (tells(verdict.repair_text, run, made)) continue;
      const auto known = std::ranges::find(left, name);
      if (known != left.end()) {
        left.erase(known);
        continue;
      }
      ++count;
      insert_once(makers, rank);
      add_once(calls, std::move(name));
    }
  }
  if (count == 0) return {};
  const std::string on = ranks.size() == 1 ? std::string() : " on " + model::list_of(makers);
  if (calls.size() <= kMostNamed && count == calls.size())
    return fmt::format(", and then {}{},", fmt::join(calls, " and "), on);
  return fmt::format(", and then {} more calls{} that others wait for,", count, on);
}

}  // namespace

diagnose::Passing passing_in_trial(const model::Run& run,
                                   const diagnose::RecordedVerdict& verdict) {
  return diagnose::completes_with(run, verdict.repair).value_or(diagnose::Passing::kShown);
}

Trial try_verdict(const model::Run& run, const diagnose::RecordedVerdict& verdict,
                  const interp::BackendFactory& make_backend, double max_seconds) {
  Trial out;
  if (!(verdict.is_fault() || verdict.unknown)) return out;
  if (verdict.repair.empty()) {
    if (verdict.is_fault()) out.sentence = "not tried: nothing shows which calls would be right";
    return out;
  }
  const diagnose::Passing passing = passing_in_trial(run, verdict);
  const std::vector<std::vector<diagnose::MemberRef>> made = diagnose::calls_by_rank(run);
  if (const std::string call = call_of_a_stranger(run, made); !call.empty()) {
    out.sentence = "not tried: " + call;
    return out;
  }
  size_t all = 0;
  for (const auto& line : made) all += line.size();
  std::vector<size_t> past;
  if (all > kMostWhole) past = diagnose::common_past(run, made, verdict.repair);
  const diagnose::JobCalls recorded = diagnose::job_of(run, passing, past);
  const diagnose::JobCalls repaired = diagnose::repaired(run, verdict.repair, passing, past);
  const std::string repair = verdict.repair_text + continuation_text(run, verdict, repaired);
  const size_t calls = calls_in(recorded);
  if (calls > kMostTried) {
    out.sentence = fmt::format("not tried: too large, with {} calls on record; at most {} are run",
                               calls, kMostTried);
    return out;
  }
  const std::string which = past.empty()
                                ? std::string("the recorded calls")
                                : fmt::format("the last {} of {} recorded calls", calls, all);
  const TrialResult before =
      run_calls(run, recorded, "The calls that were recorded.", make_backend, max_seconds);
  if (before.verdict == WhatIfTrial::Verdict::kTooLong) {
    out.sentence = fmt::format("not tried: too large, the simulation of {} takes more than {} s",
                               which, max_seconds);
    return out;
  }
  out.reproduced = hangs(before);
  if (verdict.unknown && !out.reproduced) {
    out.sentence = fmt::format("not tried: the calls of {} up to the hang are not on record",
                               model::list_of(verdict.suspects));
    return out;
  }
  const TrialResult after = run_calls(run, repaired, "The calls that were recorded, repaired.",
                                      make_backend, max_seconds);
  out.completes = after.verdict == WhatIfTrial::Verdict::kCompletes;
  const std::string first =
      out.reproduced ? fmt::format("tried in a simulation: {} hang as well", which)
                     : fmt::format("tried in a simulation: {} do not hang{}", which,
                                   before.why.empty() ? std::string() : " (" + before.why + ")");
  out.sentence = fmt::format("{}; {} the program {}{}", first, repair,
                             out.completes ? "completes" : "does not complete",
                             out.completes || after.why.empty() ? std::string() : ": " + after.why);
  return out;
}

}  // namespace hostir::traces
