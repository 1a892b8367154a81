// The shardings through which a plan from one sharding to another may pass.
//
// These functions only propose. redistribute_step.h knows which shardings one kernel or collective
// can reach, redistribute_cost.h knows the cost, and redistribute.h searches for the cheapest path.
#pragma once

#include <vector>

#include "hostir/ir/axes.h"

namespace hostir {

/// Shardings on the way from `at` to `target`, which is among them: cut further towards the target,
/// reduced, scattered, gathered, exchanged between dimensions, or partial over more axes.
std::vector<Sharding> waypoints(const Mesh& mesh, const Sharding& at, const Sharding& target);

/// All shardings over the axes of both and `others`, if there are two axes and few dimensions; else
/// none. They are partial, over axes of both, only if one of the two is, with the reduction of
/// `target`.
std::vector<Sharding> every_placing(const Mesh& mesh, const Sharding& source,
                                    const Sharding& target, const AxisList& others);

}  // namespace hostir
