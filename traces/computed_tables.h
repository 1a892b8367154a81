// Tables that queries of our own connections can use, computed from the timeline when they are
// read.
//
// The views of the schema answer the same questions in any SQLite, but they unpack every event:
// minutes in a log of ten million. These tables read what is drawn (traces/stored_timeline.h), or
// each event once, and take seconds at most. They show the history that is shown: what was undone
// is left out. They are not in the file.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "interp/session/log/log_records.h"
#include "traces/sqlite.h"

namespace hostir::traces {

class LogReader;

struct ComputedTable {
  using Rows = std::vector<std::vector<interp::LogCell>>;
  std::string_view name;
  std::string_view doc;
  std::string_view columns;  // names, separated by commas
  Expected<Rows> (*rows)(const LogReader& log, const std::stop_token& stop);
};

std::span<const ComputedTable> computed_tables();

/// Makes the tables known to a connection of the pool, which must not outlive `log`.
Expected<void> register_computed_tables(Database& database, const LogReader& log,
                                        std::stop_token stop);

// The tables, one file each.
Expected<ComputedTable::Rows> instruction_times(const LogReader& log, const std::stop_token& stop);
Expected<ComputedTable::Rows> exposed_communication(const LogReader& log,
                                                    const std::stop_token& stop);
Expected<ComputedTable::Rows> peak_memory(const LogReader& log, const std::stop_token& stop);
Expected<ComputedTable::Rows> slowest_waits(const LogReader& log, const std::stop_token& stop);

}  // namespace hostir::traces
