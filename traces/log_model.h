// A log as a model::Run: what it tells of ranks, collectives and work in flight.
//
// Works without program text, of a cut log, and of the file of one process of several. What the log
// does not hold stays unknown: no state, place or time is made up.
#pragma once

#include "hostir/support/expected.h"
#include "interp/model/run.h"
#include "traces/log_reader.h"

namespace hostir::traces {

struct LogModelOptions {
  /// Of a long run the last ones; earlier ones count as lost.
  int64_t max_collectives = 50'000;
};

/// Ids of instructions and streams are those of the log. Errors: of reading.
Expected<model::Run> run_of(const LogReader& log, const LogModelOptions& options = {});

}  // namespace hostir::traces
