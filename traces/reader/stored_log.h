// Opening a log: loads the timeline of all tracks from the chunks stored in it.
//
// Takes milliseconds for millions of events. Everything else is read from the events
// (event_loader.h): what no chunk covers, logs without chunks, and chunks that are damaged or
// contain events of an undone history. Chunks contain nothing that the events do not.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/database/sqlite.h"
#include "traces/reader/log_tables.h"
#include "traces/reader/undone_events.h"
#include "traces/timeline/stored_timeline.h"
#include "traces/timeline/timeline_store.h"

namespace hostir::traces {

struct StoredLog {
  std::vector<StoredTrack> tracks;   // by track; empty if there are no chunks
  std::vector<StoredMemory> memory;  // by rank
  int64_t next_id = 0;               // events below it are in `tracks`, except those in `open`
  std::vector<int64_t> open;         // unfinished when the last chunk was written
};

ChunkLimits chunk_limits(const LogTables& tables);

/// `last_id`: of the existing events. Errors: `log_cancelled` and those of the disk.
Expected<StoredLog> load_stored(Database& database, const LogTables& tables,
                                const interp::Lineage& lineage, int64_t last_id);

}  // namespace hostir::traces
