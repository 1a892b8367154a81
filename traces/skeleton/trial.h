// The verdict tried: the recorded calls run in a simulation and hang; repaired, they complete.
#pragma once

#include <string>

#include "interp/session/engine.h"
#include "traces/skeleton/skeleton.h"

namespace hostir::traces {

struct Trial {
  bool reproduced = false;  // the record as it is hangs or does not fit together there too
  bool completes = false;   // the repaired one runs to its end
  std::string sentence;     // one or two, for a person; without a full stop
};

/// Runs two programs of at most `max_seconds` each. Of a verdict that accuses nobody, or knows no
/// repair, nothing is run and the sentence is empty.
Trial try_verdict(const model::Run& run, const diagnose::RecordedVerdict& verdict,
                  const interp::BackendFactory& make_backend, double max_seconds = 20);

}  // namespace hostir::traces
