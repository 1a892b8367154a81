// Reads events from a file in order of id, from both plain rows and packed blocks.
//
// Rows and blocks are merged while reading; only one block is in memory. Numbers are checked: a
// damaged log, or a rank, stream or instruction that the run does not have, is an error. A scanner
// uses its connection for its whole lifetime.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "interp/session/log/log_records.h"
#include "traces/database/sqlite.h"
#include "traces/writer/event_packing.h"

namespace hostir::traces {

/// Valid ranges of ids in events.
struct EventLimits {
  int64_t rank_count = 0;
  int64_t stream_count = 0;
  int64_t instruction_count = 0;
};

struct ScanRange {
  int64_t first_id = 0;
  int64_t last_id = std::numeric_limits<int64_t>::max();
  int64_t from_ns = std::numeric_limits<int64_t>::min();  // blocks outside are not unpacked;
  int64_t to_ns = std::numeric_limits<int64_t>::max();    // single events are not filtered
};

class EventScanner {
 public:
  static Expected<EventScanner> create(Database& database, const EventLimits& limits,
                                       const ScanRange& range);
  /// The next event, or nullptr at the end; valid until the next call.
  Expected<const interp::LogEvent*> next();

 private:
  Expected<void> read_row();
  Expected<void> read_block();

  EventLimits limits_;
  int64_t first_id_ = 0;
  int64_t last_id_ = 0;
  Statement rows_;
  Statement blocks_;
  bool rows_done_ = false;
  bool blocks_done_ = false;
  bool row_ready_ = false;
  interp::LogEvent row_;
  std::vector<interp::LogEvent> block_;
  size_t block_at_ = 0;
};

/// Reads events one by one; cheap if consecutive ids are close together.
class EventFinder {
 public:
  static Expected<EventFinder> create(Database& database, const EventLimits& limits);
  /// Valid until the next call. Errors: `log_no_event`.
  Expected<const interp::LogEvent*> find(int64_t id);

 private:
  const interp::LogEvent* in_block(int64_t id) const;

  EventLimits limits_;
  Statement row_;
  Statement block_row_;
  interp::LogEvent event_;
  std::vector<interp::LogEvent> block_;  // the last one, in order of id
};

/// One event. Errors: `log_no_event`.
Expected<interp::LogEvent> find_event(Database& database, const EventLimits& limits, int64_t id);

/// Many events; `ids` must be strictly ascending. The result is in the same order; ids that are not
/// in the log are left out.
/// Errors: `log_damaged`.
Expected<std::vector<interp::LogEvent>> find_events(Database& database, const EventLimits& limits,
                                                    std::span<const int64_t> ids);

}  // namespace hostir::traces
