// Which events belong to the history that ended last.
//
// A branch leaves its parent at a decision; what its parent did from there on was undone. The
// newest branch with its ancestors up to the points of leaving is the history that is shown.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "traces/event_scanner.h"
#include "traces/sqlite.h"

namespace hostir::traces {

class Lineage {
 public:
  /// Reads the table `decision`. Unknown parents and cycles end the line.
  static Expected<Lineage> load(Database& database);

  bool contains(uint32_t branch, uint64_t decision) const {
    if (ends_.empty()) return true;  // no branch was ever opened
    const auto end = ends_.find(branch);
    return end != ends_.end() && decision < end->second;
  }
  /// No branch was ever opened: everything belongs to the history.
  bool is_single() const { return ends_.empty(); }
  uint32_t newest() const { return newest_; }
  friend bool operator==(const Lineage&, const Lineage&) = default;

 private:
  std::map<uint32_t, uint64_t> ends_;  // branch -> first decision that is not part of the line
  uint32_t newest_ = 0;
};

/// Ids of events, [first, end).
struct EventRange {
  int64_t first = 0;
  int64_t end = 0;
};

/// The events that do not belong to the history, in order; none overlap. Found by bisection: events
/// are written in order of branch, and of decision on a branch. Errors: `log_damaged`.
Expected<std::vector<EventRange>> find_undone(Database& database, const EventLimits& limits,
                                              const Lineage& lineage, int64_t last_id);

}  // namespace hostir::traces
