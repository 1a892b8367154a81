#include "traces/skeleton/trial.h"

#include <fmt/format.h>

#include "interp/session/what_if/what_if_trial.h"

namespace hostir::traces {

namespace {

using interp::WhatIfTrial;
using interp::what_if_parts::TrialResult;
using interp::what_if_parts::TrialSetup;

constexpr size_t kMostTried = 50'000;  // calls; a text of this size compiles in seconds

TrialResult run_text(const std::string& text, const interp::BackendFactory& make_backend,
                     double max_seconds) {
  TrialSetup setup;
  setup.file = "job.hir";
  setup.function = "job";
  setup.make_backend = make_backend;
  setup.backend.machine = default_machine();
  setup.max_seconds = max_seconds;
  return interp::what_if_parts::try_text(text, setup, {});
}

bool hangs(const TrialResult& result) {
  return result.verdict == WhatIfTrial::Verdict::kHangs ||
         result.verdict == WhatIfTrial::Verdict::kMismatch;
}

}  // namespace

Trial try_verdict(const model::Run& run, const diagnose::RecordedVerdict& verdict,
                  const interp::BackendFactory& make_backend, double max_seconds) {
  Trial out;
  if (!verdict.is_fault() || verdict.repair.empty()) return out;
  const diagnose::JobCalls recorded = diagnose::job_of(run);
  size_t calls = 0;
  for (const auto& line : recorded) calls += line.size();
  if (calls > kMostTried) {
    out.sentence = fmt::format("not tried: too large, with {} calls on record; at most {} are run",
                               calls, kMostTried);
    return out;
  }
  const TrialResult before = run_text(program_text(run, recorded, "The calls that were recorded."),
                                      make_backend, max_seconds);
  if (before.verdict == WhatIfTrial::Verdict::kTooLong) {
    out.sentence = fmt::format(
        "not tried: too large, the simulation of the {} recorded calls takes more "
        "than {} s",
        calls, max_seconds);
    return out;
  }
  out.reproduced = hangs(before);
  const TrialResult after = run_text(program_text(run, diagnose::repaired(run, verdict.repair),
                                                  "The calls that were recorded, repaired."),
                                     make_backend, max_seconds);
  out.completes = after.verdict == WhatIfTrial::Verdict::kCompletes;
  const std::string first =
      out.reproduced ? "tried: the recorded calls, run in a simulation, hang as well"
                     : fmt::format("tried: the recorded calls, run in a simulation, do not hang{}",
                                   before.why.empty() ? std::string() : " (" + before.why + ")");
  out.sentence = fmt::format("{}; {} the program {}{}", first, verdict.repair_text,
                             out.completes ? "completes" : "does not complete",
                             out.completes || after.why.empty() ? std::string() : ": " + after.why);
  return out;
}

}  // namespace hostir::traces
