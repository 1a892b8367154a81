// Which of several plans is better.
//
// A plan that fits in memory is better than one that does not. Of those that fit, the faster one is
// better, and of about equally fast ones the one that needs less memory.
#pragma once

#include <span>
#include <vector>

#include "hostir/api/plan.h"

namespace hostir::api {

/// Returns the index of the preferred plan. Of the plans that fit and take at most 0.1 % longer
/// than the fastest, that is the one that needs the least memory; if none fits, the one of all that
/// does. `plans` must not be empty.
size_t preferred_plan(std::span<const Plan* const> plans);

/// True if `a` needs at most 0.1 % more memory than `b` and takes at most 0.1 % longer. If neither
/// fits, the time does not matter.
bool is_as_good(const Plan& a, const Plan& b);

/// A strict weak order, unlike preferred_plan(), which calls close times equal.
bool is_ranked_before(const Plan& a, const Plan& b);

/// Keeps the first of plans that are the same: different cuts may propagate to the same shardings,
/// and meshes may differ only in the names of their axes.
void drop_equal(std::vector<Plan>& plans);

/// Drops the cuts that ranked in the lower half of the last round, but keeps at least 16. The rest
/// stay in their order. `ranking`: those of the last round, best first.
void keep_promising(std::vector<PlanCut>& cuts, const std::vector<PlanCut>& ranking);

}  // namespace hostir::api
