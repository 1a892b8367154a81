// Tests a verdict by simulation: the recorded calls must hang, the repaired ones must complete.
#pragma once

#include <string>

#include "interp/session/prepare/prepared_run.h"
#include "traces/skeleton/skeleton.h"

namespace hostir::traces {

struct Trial {
  bool reproduced = false;  // the unchanged record hangs or mismatches in the simulation too
  bool completes = false;   // the repaired program completes
  std::string sentence;     // one or two sentences, without a full stop
};

/// Which sends and recvs the trial lets pass.
diagnose::Passing passing_in_trial(const model::Run& run, const diagnose::RecordedVerdict& verdict);

/// Runs two programs for at most `max_seconds` each. If the verdict has no culprit or no known
/// repair, nothing is run and the sentence is empty.
Trial try_verdict(const model::Run& run, const diagnose::RecordedVerdict& verdict,
                  const interp::BackendFactory& make_backend, double max_seconds = 20);

}  // namespace hostir::traces
