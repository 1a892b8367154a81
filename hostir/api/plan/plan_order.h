// Which of several plans is better.
//
// A plan that fits in memory is better than one that does not. Of two plans that fit, the faster
// one is better; if they are about equally fast, the one that needs less memory.
#pragma once

#include <set>
#include <span>
#include <vector>

#include "hostir/api/plan/plan.h"

namespace hostir::api {

/// `memory_bytes`: of a rank; 0 is unknown and enough.
bool fits_in(double memory_bytes, int64_t peak_bytes);

/// Returns the index of the preferred plan: the one that needs the least memory among those that
/// fit and take at most 0.1 % longer than the fastest. If none fits, it is the one that needs the
/// least memory of all. `plans` must not be empty.
size_t preferred_plan(std::span<const Plan* const> plans);

/// True if `a` needs at most 0.1 % more memory than `b` and takes at most 0.1 % longer. If neither
/// fits, the time does not matter.
bool is_as_good(const Plan& a, const Plan& b);

/// A strict weak order, unlike preferred_plan(), which calls close times equal.
bool is_ranked_before(const Plan& a, const Plan& b);

/// Returns the plan to add cuts to next: the preferred one of `seen`. Returns nullptr if it was
/// extended already, or if nothing was seen: then the search ends. But if a rank needs more than
/// four times its memory when the search ends, the search goes on from the preferred plan among
/// those not yet extended, up to four times. `detours`: how often it did.
const Plan* next_to_extend(std::span<const Plan* const> seen, const std::set<const Plan*>& extended,
                           double memory_bytes, size_t& detours);

/// A plan, and the cut that was added to another plan to make it.
struct TriedCut {
  const Plan* plan = nullptr;
  PlanCut cut;
};

/// Sorts the cuts of a round in the order of is_ranked_before(), but those about as fast as the
/// fastest of all come first, in the order of their memory.
void rank_cuts(std::vector<TriedCut>& tried);

/// The cuts of one round that are worth trying together, the best first: each alone saves at least
/// a quarter of the memory that the best one saves, and none cuts what an earlier one cuts over the
/// same axis. Empty if a cut makes `from` faster: such cuts depend on each other. `tried`: cuts of
/// `from`, ranked.
std::vector<PlanCut> joint_cuts(const Plan& from, std::vector<TriedCut> tried);

/// Returns the index of the plan to predict with all layers next, or of the winner if that one is
/// exact already. Of plans that are about as good, only one is predicted, or all of them would
/// follow one by one. If four turn out worse than expected, the best of those wins. But if it does
/// not fit in memory, the file's own shardings (unless they are expected to be worse) and up to
/// four more plans that are expected to fit are tried first. `plans`: at least one, sorted by
/// is_ranked_before(). `exact_plans`: how many were predicted with all layers.
size_t next_to_predict(std::span<const Plan> plans, size_t exact_plans);

/// A plan whose prediction from a few layers proved too optimistic once all layers were predicted.
struct OverestimatedPlan {
  MeshAxes axes;
  int64_t expected_ns = 0;
  int64_t expected_bytes = 0;
  double time_factor = 1;    // at least 1
  double memory_factor = 1;  // at least 1
};

OverestimatedPlan overestimate(const Plan& expected, const Plan& found);

/// Raises the expectation equally for plans that are not exact and were expected to be similar: on
/// the same mesh, with about the same memory or time. Otherwise neighbours of a plan that
/// disappointed would each have to be predicted with all layers to find out the same.
void expect_alike(Plan& plan, const OverestimatedPlan& overestimate, double memory_bytes);

/// Keeps the first of plans that are the same: different cuts may propagate to the same shardings,
/// and meshes may differ only in the names of their axes.
void drop_equal(std::vector<Plan>& plans);

/// Drops the cuts that ranked in the lower half of the last round, but keeps at least 16. The rest
/// stay in their order. `ranking`: those of the last round, best first.
void keep_promising(std::vector<PlanCut>& cuts, const std::vector<PlanCut>& ranking);

}  // namespace hostir::api
