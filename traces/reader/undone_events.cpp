#include "traces/reader/undone_events.h"

#include <functional>
#include <map>

namespace hostir::traces {

using interp::Lineage;

namespace {

using EventTest = std::function<bool(const interp::LogEvent&)>;

// The first id in [low, high) whose event, or the next one in the log, passes `test`; `high` if
// none does. `test` must be monotonic: false up to some event and true from there on.
Expected<int64_t> first_that(Database& database, const EventLimits& limits, int64_t low,
                             int64_t high, const EventTest& test) {
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    HOSTIR_ASSIGN_OR_RETURN(
        EventScanner scanner,
        EventScanner::create(database, limits, {.first_id = middle, .last_id = high - 1}));
    HOSTIR_ASSIGN_OR_RETURN(const interp::LogEvent* event, scanner.next());
    if (event == nullptr || test(*event)) {
      high = middle;
    } else {
      low = event->id + 1;
    }
  }
  return low;
}

}  // namespace

Expected<Lineage> load_lineage(Database& database) {
  std::map<uint32_t, Lineage::Opening> openings;
  uint32_t newest = 0;
  HOSTIR_ASSIGN_OR_RETURN(
      Statement rows,
      database.prepare("SELECT branch, number, CAST(detail AS INTEGER) FROM decision "
                       "WHERE kind = 'branch' ORDER BY id"));
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) break;
    newest = static_cast<uint32_t>(rows.integer(0));
    openings[newest] = {static_cast<uint32_t>(rows.integer(2)),
                        static_cast<uint64_t>(rows.integer(1))};
  }
  return openings.empty() ? Lineage() : Lineage(openings, newest);
}

Expected<std::vector<EventRange>> find_undone(Database& database, const EventLimits& limits,
                                              const Lineage& lineage, int64_t last_id) {
  std::vector<EventRange> out;
  if (lineage.is_single()) return out;
  const int64_t end = last_id + 1;
  for (int64_t id = 0; id < end;) {
    HOSTIR_ASSIGN_OR_RETURN(EventScanner scanner,
                            EventScanner::create(database, limits, {.first_id = id}));
    HOSTIR_ASSIGN_OR_RETURN(const interp::LogEvent* event, scanner.next());
    if (event == nullptr) break;
    const uint32_t branch = event->branch;
    HOSTIR_ASSIGN_OR_RETURN(const int64_t next,
                            first_that(database, limits, id, end, [&](const interp::LogEvent& e) {
                              return e.branch != branch;
                            }));
    HOSTIR_ASSIGN_OR_RETURN(const int64_t left,
                            first_that(database, limits, id, next, [&](const interp::LogEvent& e) {
                              return !lineage.contains(branch, e.decision);
                            }));
    if (left < next) out.push_back({left, next});
    id = next;
  }
  return out;
}

}  // namespace hostir::traces
