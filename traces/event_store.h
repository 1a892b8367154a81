// Puts assembled events into the file: the first ones as plain rows, further ones packed.
//
// Ordinary runs stay plain rows that any tool reads at once; a run of millions of events costs a
// fifth of the time and half of the bytes per event beyond the first `plain_events`. The view
// `event` shows both as one. Used by the writer's thread only.
#pragma once

#include <cstdint>

#include "interp/session/log_records.h"
#include "traces/event_packing.h"
#include "traces/row_inserter.h"

namespace hostir::traces {

class EventStore {
 public:
  static Expected<EventStore> create(Database& database, int64_t plain_events);

  /// A complete event. Ids rise, apart from events that were passed to `add_late` before.
  Expected<void> add(const interp::LogEvent& event);
  /// An event that is not complete (or was not, when it was passed here before): a plain row that
  /// replaces an older one of the same id.
  Expected<void> add_late(const interp::LogEvent& event);
  /// Writes what is buffered; before every commit.
  Expected<void> finish();

 private:
  static constexpr int64_t kEventsPerBlock = 4096;
  Expected<void> write_block();

  int64_t plain_left_ = 0;
  RowInserter rows_;
  RowInserter late_rows_;
  BlockPacker packer_;
  Statement insert_block_;
};

}  // namespace hostir::traces
