// Searches the orders that a program leaves open for one that changes its results.
//
// Two events depend on each other if they touch the same bytes and one of them writes. Under every
// schedule, a run orders a program's dependent events in the same way, unless it reports them as a
// race: sends meet receives by their number, collectives by their sequence, and no call depends on
// what comes first. So a run without a race represents all legal orders (a partial-order reduction
// keeps one of each set of equivalent orders). If a run has races, both orders of each pair are
// forced, one at a time: a single late instruction is the smallest difference between two orders.
// Other schedules are tried after that, because results may depend on several pairs at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "interp/session/prepare/engine.h"

namespace hostir::interp {

/// One of two accesses that nothing orders, made to come last.
struct ForcedOrder {
  std::string late;           // `@f#9`
  std::string first;          // the other one
  Rank rank = 0;              // whose instruction is late; kNoRank: every rank's
  std::string output;         // the first result that differs; empty: none
  std::vector<Fault> faults;  // errors of kinds that the first run does not have

  bool differs() const { return !output.empty() || !faults.empty(); }
};

struct ScheduleSearch {
  /// `@f#9 and @f#7`: the pairs of dependent instructions that nothing orders. Empty: one order
  /// stands for all.
  std::vector<std::string> open;
  std::vector<ForcedOrder> forced;
  int64_t tried = 1;
  /// The first schedule with different results; 0: none.
  int64_t other_schedule = 0;
  std::string other_output;
  /// Its errors of kinds that the first run does not have.
  std::vector<Fault> faults;
};

/// Functions that run the program again.
struct ScheduleRuns {
  std::function<Expected<RunResult>(int64_t)> numbered;  // the schedule with this number
  /// With an instruction late on a rank, or on every rank (kNoRank). Empty: the backend's clock is
  /// not virtual.
  std::function<Expected<RunResult>(const std::string& address, Rank rank)> late;
};

/// `first` is the result of schedule 0. Forces the orders of at most `most` pairs. Tries numbers
/// below `most`, also if nothing is open: that checks the claim above. Errors: those of the runs.
Expected<ScheduleSearch> search_schedules(const RunResult& first, int64_t most,
                                          const ScheduleRuns& runs);

}  // namespace hostir::interp
