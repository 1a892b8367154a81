// Which of several plans is better.
//
// A plan that fits in memory is better than one that does not. Of those that fit, the faster one is
// better, and of about equally fast ones the one that needs less memory.
#pragma once

#include <span>
#include <vector>

#include "hostir/api/plan.h"

namespace hostir::api {

/// The index of the preferred plan; `plans` must not be empty. Of the plans that fit and take at
/// most 0.1 % longer than the fastest, the one that needs least memory. If none fits, the one that
/// needs least memory.
size_t preferred_plan(std::span<const Plan* const> plans);

/// True if nothing that matters of `a` is more than 0.1 % worse: its time, unless neither fits, and
/// its memory.
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
