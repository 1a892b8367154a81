// Loads the events of a log into memory, with several threads.
//
// The data that the GUI needs of every event at all times (its place on the timeline, live bytes)
// is kept in `EventPart`s, one per stretch of ids. Threads with their own connections read
// stretches; the caller receives the parts in order while later ones are still being read. Absent:
// all other fields of an event, which are read from the file on demand.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "traces/database/connection_pool.h"
#include "traces/reader/log_tables.h"
#include "traces/reader/undone_events.h"
#include "traces/timeline/timeline.h"

namespace hostir::traces {

struct EventPart {
  explicit EventPart(const LogTables& tables);
  /// Adds an event. Events of an undone history are counted, but not shown.
  void add(const LogTables& tables, const interp::Lineage& lineage, const interp::LogEvent& event);
  /// Shows an event that was counted before it finished; see LogTables::on_stream.
  void show(const LogTables& tables, const interp::Lineage& lineage, const interp::LogEvent& event);

  std::vector<std::vector<Timeline::Event>> tracks;         // by track
  std::vector<std::vector<interp::LogMemoryPoint>> memory;  // by rank
  std::vector<int64_t> open;                                // unfinished events
  int64_t row_count = 0;
  int64_t next_id = 0;  // all events below it are in this part or an earlier one
};

/// True if the event was still in flight when it was written.
bool is_open(const interp::LogEvent& event);

/// Highest id of an event, -1 if there is none.
Expected<int64_t> last_event_id(Database& database);

/// Reads the events from `first_id` to `last_id`. `deliver` is called on this thread, in order of
/// id.
/// Errors: `log_damaged`, `log_cancelled`.
Expected<void> load_events(ConnectionPool& pool, const LogTables& tables,
                           const interp::Lineage& lineage, int64_t first_id, int64_t last_id,
                           const std::stop_token& stop,
                           const std::function<void(const EventPart&)>& deliver);

}  // namespace hostir::traces
