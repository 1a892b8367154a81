// Opening: the timeline of all tracks from the chunks that a log holds ready.
//
// Takes milliseconds for millions of events. What no chunk covers, and logs without chunks, or with
// such that are damaged or hold events of a history that was undone, are read from the events
// (event_loader.h): the chunks say nothing that the events do not.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/lineage.h"
#include "traces/log_tables.h"
#include "traces/sqlite.h"
#include "traces/stored_timeline.h"
#include "traces/timeline_store.h"

namespace hostir::traces {

struct StoredLog {
  std::vector<StoredTrack> tracks;   // by track; empty where there are no chunks
  std::vector<StoredMemory> memory;  // by rank
  int64_t next_id = 0;               // events below it are in `tracks`, but for those in `open`
  std::vector<int64_t> open;         // had not finished when the last chunk was written
};

ChunkLimits chunk_limits(const LogTables& tables);

/// `last_id`: of the events that are there. Errors: `log_cancelled` and those of the disk.
Expected<StoredLog> load_stored(Database& database, const LogTables& tables, const Lineage& lineage,
                                int64_t last_id);

}  // namespace hostir::traces
