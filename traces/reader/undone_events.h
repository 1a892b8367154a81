// Finds the events of a log that do not belong to its final history: those that were undone.
#pragma once

#include <cstdint>
#include <vector>

#include "interp/session/log/lineage.h"
#include "traces/database/sqlite.h"
#include "traces/reader/event_scanner.h"

namespace hostir::traces {

/// The history of the newest branch, from the table `decision`.
Expected<interp::Lineage> load_lineage(Database& database);

/// Ids of events, [first, end).
struct EventRange {
  int64_t first = 0;
  int64_t end = 0;
};

/// The events that do not belong to the history, in order and disjoint. Found by bisection: events
/// are written in order of branch, and of decision within a branch.
/// Errors: `log_damaged`.
Expected<std::vector<EventRange>> find_undone(Database& database, const EventLimits& limits,
                                              const interp::Lineage& lineage, int64_t last_id);

}  // namespace hostir::traces
