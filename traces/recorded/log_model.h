// Reads a log as a model::Run: ranks, collectives and work in flight.
//
// Works without program text, for a cut log, and for the log of one process of several. What the
// log does not contain stays unknown: no state, place or time is made up.
#pragma once

#include "hostir/support/expected.h"
#include "interp/model/run.h"
#include "traces/reader/log_reader.h"

namespace hostir::traces {

struct LogModelOptions {
  /// In a long run, only the last ones are read; earlier ones count as lost.
  int64_t max_collectives = 50'000;
};

/// Ids of instructions and streams are those of the log. Errors: those of reading.
Expected<model::Run> run_of(const LogReader& log, const LogModelOptions& options = {});

}  // namespace hostir::traces
