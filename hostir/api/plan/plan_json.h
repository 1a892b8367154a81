// The answer of `hostir plan --json`.
#pragma once

#include <span>
#include <string>

#include "hostir/api/plan/plan.h"

namespace hostir::api {

/// The plans for one number of ranks.
struct PlansForRanks {
  int64_t ranks = 1;
  Plans plans;

  /// Those that fit in a rank's memory come first.
  const Plan& best() const { return plans.found.front(); }
};

/// {function, machine, memory_bytes, ranks, best, tried: list of {ranks, candidates, layers, fits,
/// plans: list of {mesh, cuts, time_ns, exact, peak_bytes, fits, excess_bytes, memory, compute_ns,
/// collectives_ns, collectives, shardings}}}. `ranks` is the smallest number whose best plan fits,
/// and `best` that plan; null if none does.
std::string plans_json(const std::string& function, const Machine& machine,
                       std::span<const PlansForRanks> tried);

}  // namespace hostir::api
