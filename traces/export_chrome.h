// A log as Chrome trace JSON, which Perfetto's UI and chrome://tracing open.
//
// One process per rank, one thread for its host and one per stream, "X" slices for events, flow
// arrows between the members of each collective, a counter of live bytes. Times are microseconds
// with three decimals, as the format wants. Only the history that ended last is written.
#pragma once

#include <iosfwd>
#include <stop_token>

#include "traces/log_reader.h"

namespace hostir::traces {

/// Writes while it reads: memory grows with the collectives only. Errors: those of reading,
/// `export_write`.
Expected<void> export_chrome(const LogReader& log, std::ostream& out, std::stop_token stop = {});

}  // namespace hostir::traces
