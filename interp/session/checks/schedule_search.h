// Looks for an execution order that changes a program's results, among the orders that it leaves
// open.
//
// Two events depend on each other if they touch the same bytes and one of them writes. Under every
// schedule, a run orders a program's dependent events in the same way, unless it reports them as a
// race: sends meet receives by their number, collectives by their sequence, and no call depends on
// what comes first. So a run without a race represents all legal orders (a partial-order reduction
// keeps one of each set of equivalent orders). If a run has races, the orders that matter are
// forced by making instructions late, fewest decisions first:
// 1. Both orders of each pair, one pair at a time.
// 2. Every combination of orders of the pairs, as far as the number of runs allows. The first
//    combination that changes something is reduced to the decisions that it needs.
// 3. Numbered schedules, which give each execution of an instruction another duration.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "interp/session/prepare/prepared_run.h"

namespace hostir::interp {

/// A decision between the two orders of a pair: one of its instructions waits for the other.
struct OrderChoice {
  std::string late;   // `@f#9`
  std::string first;  // the other one
  Rank rank = 0;      // the rank whose instruction is late; kNoRank: every rank's
};

/// Decisions, and what changes because of all of them.
struct ForcedOrder {
  std::vector<OrderChoice> choices;
  std::string output;         // the first result that differs; empty: none
  std::vector<Fault> faults;  // errors of kinds that the first run does not have

  bool differs() const { return !output.empty() || !faults.empty(); }
};

struct ScheduleSearch {
  /// `@f#9 and @f#7`: the pairs of dependent instructions that nothing orders. Empty: every legal
  /// order has the same results.
  std::vector<std::string> open;
  std::vector<ForcedOrder> forced;  // two for each pair
  /// The number of combinations that were forced, of the `combinations` that exist. 0: none was
  /// needed.
  int64_t combined = 0;
  int64_t combinations = 0;
  /// The fewest choices of a combination that together change something; none if no combination
  /// does.
  ForcedOrder together;
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
  /// With these orders forced. Empty: the backend's clock is not virtual.
  std::function<Expected<RunResult>(std::span<const OrderChoice>)> late;
};

/// `first` is the result of schedule 0. Forces the orders of at most `most` pairs, and at most
/// `most` combinations of them. Runs the numbered schedules below `most` even if no pair is open,
/// which checks the claim above. Errors: those of the runs.
Expected<ScheduleSearch> search_schedules(const RunResult& first, int64_t most,
                                          const ScheduleRuns& runs);

}  // namespace hostir::interp
