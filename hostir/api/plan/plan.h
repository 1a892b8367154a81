// Finds the mesh and the shardings with which a fusion is predicted to be fastest.
//
// 1. The meshes: those of the request, or every product of two axes that gives the number of ranks
//    (of as many axes as the fusion's mesh has, if those are more). Of those that differ only in
//    names of axes, the last one is searched, unless a sharding that the search keeps names axes.
// 2. On each mesh nothing is cut at first. Every cut of one dimension of one parameter by one
//    axis is tried; propagation shards all other values accordingly. The best cut is kept, and the
//    next one is searched for, until no cut improves the plan. (PartIR, Alabed et al., 2024, calls
//    these tactics.) Some cuts are not tried again: those that propagation makes anyway and, if
//    there are many, those in the worse half of the previous round. Once the parts fit in memory,
//    all are tried again. Where no cut makes the plan faster, those that save memory are also
//    tried together, which takes one round instead of one for each.
// 3. Each candidate is lowered and run without values (plan_prediction.h): the times are the
//    simulator's. Candidates that propagate to the same shardings are predicted once. Those of one
//    round are predicted at the same time (plan_workers.h).
// 4. If the fusion repeats equal layers (repeated_layers.h), they are cut alike. The search
//    lowers two and four of them, and extrapolates (plan_layers.h). The best plan is then lowered
//    with four and eight layers and, if it is still the best, with all layers. If it is worse than
//    expected, the expectation for similar plans is raised as much (plan_order.h), and the next one
//    is tried. The winner has been predicted with all layers. If the winner does not fit in memory,
//    the file's own shardings have been predicted too, unless they are expected to be worse. A
//    candidate that fits in a rank's memory is better than one that does not. Otherwise the faster
//    one is better; if both are equally fast, the smaller one. The search is greedy, so the result
//    need not be optimal.
#pragma once

#include <functional>

#include "hostir/api/plan/plan_meshes.h"
#include "hostir/api/plan/plan_prediction.h"

namespace hostir::api {

/// A dimension of a parameter, cut by a mesh axis.
struct PlanCut {
  std::string value;  // without '%'
  size_t dim = 0;
  std::string axis;
  friend auto operator<=>(const PlanCut&, const PlanCut&) = default;
};

/// A candidate and its prediction.
struct Plan : Prediction {
  MeshAxes axes;
  std::vector<PlanCut> cuts;
  bool as_written = false;  // the shardings of the file, not `cuts`
  bool fits = true;         // in a rank's memory
  bool exact = true;        // predicted with all layers
  bool refined = false;     // if not exact: from four and eight layers, not from two and four
  std::string placement;    // placement_text()
};

/// The benefit of one cut of the best plan: the plan without it.
struct PlanWithout {
  PlanCut cut;
  Plan plan;
};

/// How far a search is.
struct PlanProgress {
  MeshAxes axes;          // the mesh being searched; empty: the best plans are predicted in full
  size_t mesh = 0;        // the number of that mesh, from 1
  size_t meshes = 0;      // to search
  bool is_done = false;   // the mesh has been searched
  size_t candidates = 0;  // predicted so far, on all meshes
  const Plan* best = nullptr;  // so far; null if there is none
};

struct PlanRequest {
  const RunArguments& arguments;
  interp::BackendRequest backend;     // `shapes`, with the machine
  std::string gradient_of;            // the fusion whose gradient this is; empty: not a gradient
  std::vector<std::string> wrt = {};  // for which parameters; empty: all
  int64_t ranks = 1;
  int64_t optimizer_numbers = 0;  // PredictorOptions
  /// The meshes to try, each of `ranks` ranks. Axes of the fusion's mesh that one of them does not
  /// name have size 1 there. Empty: all.
  std::vector<MeshAxes> meshes = {};
  std::vector<std::string> fixed;  // parameters and results that keep the file's sharding
  std::function<void(const PlanProgress&)> progress;  // called on the caller's thread; may be empty
};

struct Plans {
  std::vector<Plan> found;       // best first; those of the file among them
  std::vector<MeshAxes> meshes;  // all that were tried, in order
  std::vector<PlanWithout> without;
  size_t candidates = 0;
  size_t layers = 1;  // equal layers that are cut alike; a cut names the first one's parameter
};

/// Errors: kUsage for a name that is not a parameter or result, for a function that is not a
/// fusion, and for one that uses several meshes (`plan_meshes`); the error of the last candidate if
/// none can be lowered.
Expected<Plans> find_plans(const PlanRequest& request);

/// `%w1[0] by tp`.
std::string cut_text(const PlanCut& cut);

}  // namespace hostir::api
