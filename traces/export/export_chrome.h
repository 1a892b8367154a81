// Exports a log as Chrome trace JSON, for Perfetto's UI and chrome://tracing.
//
// One process per rank, one thread for its host and one per stream, "X" slices for events, flow
// arrows between the members of each collective, a counter of live bytes. Times are in microseconds
// with three decimals, as the format requires. Only the final history is exported.
#pragma once

#include <iosfwd>
#include <stop_token>

#include "traces/reader/log_reader.h"

namespace hostir::traces {

/// Writes while reading: memory grows only with the number of collectives.
/// Errors: those of reading, `export_write`.
Expected<void> export_chrome(const LogReader& log, std::ostream& out, std::stop_token stop = {});

}  // namespace hostir::traces
