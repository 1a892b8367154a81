// Determines which events belong to the final history.
//
// A branch leaves its parent at a decision; its parent's later decisions were undone. The shown
// history is the newest branch with its ancestors, each up to the point where it was left.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "traces/database/sqlite.h"
#include "traces/reader/event_scanner.h"

namespace hostir::traces {

class Lineage {
 public:
  /// Reads the table `decision`. Unknown parents and cycles end the ancestry.
  static Expected<Lineage> load(Database& database);

  bool contains(uint32_t branch, uint64_t decision) const {
    if (ends_.empty()) return true;  // no branch was ever opened
    const auto end = ends_.find(branch);
    return end != ends_.end() && decision < end->second;
  }
  /// True if no branch was ever opened: everything belongs to the history.
  bool is_single() const { return ends_.empty(); }
  uint32_t newest() const { return newest_; }
  friend bool operator==(const Lineage&, const Lineage&) = default;

 private:
  std::map<uint32_t, uint64_t> ends_;  // branch -> first decision not on the line
  uint32_t newest_ = 0;
};

/// Ids of events, [first, end).
struct EventRange {
  int64_t first = 0;
  int64_t end = 0;
};

/// The events that do not belong to the history, in order and disjoint. Found by bisection: events
/// are written in order of branch, and of decision within a branch.
/// Errors: `log_damaged`.
Expected<std::vector<EventRange>> find_undone(Database& database, const EventLimits& limits,
                                              const Lineage& lineage, int64_t last_id);

}  // namespace hostir::traces
