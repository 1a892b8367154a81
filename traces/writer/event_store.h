// Writes assembled events to the file: the first ones as plain rows, the rest packed.
//
// The events of ordinary runs stay plain rows, which any tool can read. In a run of millions of
// events, those beyond the first `plain_events` cost a fifth of the time and half of the bytes. The
// view `event` presents both as one table. Used only by the writer's thread.
#pragma once

#include <cstdint>

#include "interp/session/log/log_records.h"
#include "traces/writer/event_packing.h"
#include "traces/writer/row_inserter.h"

namespace hostir::traces {

class EventStore {
 public:
  static Expected<EventStore> create(Database& database, int64_t plain_events);

  /// Adds a complete event. Ids ascend, except for events passed to `add_late` before.
  Expected<void> add(const interp::LogEvent& event);
  /// Adds an event that is incomplete, or completes one passed here before: a plain row that
  /// replaces an older one of the same id.
  Expected<void> add_late(const interp::LogEvent& event);
  /// Writes what is buffered; call before every commit.
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
