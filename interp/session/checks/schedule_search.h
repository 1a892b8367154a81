// The orders that a program leaves open, and whether any of them changes its results.
//
// Two events depend on each other if they touch the same bytes and one of them writes. A run orders
// the dependent events of a program alike under every schedule, unless it reports them as a race:
// sends meet receives by their number, collectives by their sequence, and no call depends on what
// comes first. So a run without a race stands for all legal orders (of each set of equivalent
// orders, a partial-order reduction keeps one), and one with races is run under other schedules
// until its results differ.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "interp/session/prepare/engine.h"

namespace hostir::interp {

struct ScheduleSearch {
  /// `@f#9 and @f#7`: the pairs of dependent instructions that nothing orders. Empty: one order
  /// stands for all.
  std::vector<std::string> open;
  int64_t tried = 1;
  /// The first schedule whose results are others; 0: none.
  int64_t other_schedule = 0;
  std::string other_output;
  /// The schedule's own fault, where `first` had none.
  std::vector<Fault> faults;
};

/// `run` gives the result of the schedule with a number; `first` is that of number 0. Tries numbers
/// below `most`, also if nothing is open: that checks the claim above.
/// Errors: those of `run`.
Expected<ScheduleSearch> search_schedules(const RunResult& first, int64_t most,
                                          const std::function<Expected<RunResult>(int64_t)>& run);

}  // namespace hostir::interp
