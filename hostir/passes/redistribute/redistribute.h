// Plans the cheapest steps from one sharding of a value to another.
//
//   1. A plan may pass through intermediate shardings: cut further towards the target, reduced or
//      reduce-scattered, gathered where the target is not cut, exchanged between dimensions, or
//      partial over more axes. Each is reached from the previous one in a single step
//      (redistribute_step.h), which has a cost on the machine.
//   2. The cheapest path wins; among equally cheap paths, the one with fewest steps.
//   3. If that plan has several steps, or one collective over several axes, and both shardings
//      use two axes in all, a second search also tries every placement of the two. If the plan
//      crosses hosts and the shardings use one axis, the second axis is one over which a host has
//      replicas: each replica then moves a part, and gathers the rest on its host. The search stops
//      at the cost of the first plan.
//   4. Reducing, gathering everything and slicing is always possible, so a plan exists for every
//      pair of shardings, even if sub-axes do not nest.
// Plans are cached because a fusion needs the same few many times. placement_choice.h decides
// which sharding a value should have.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "hostir/passes/redistribute/step_graph.h"

namespace hostir {

struct Redistribution {
  std::vector<RedistributeStep> steps;  // empty if there is nothing to do
  double cost_ns = 0;

  size_t collectives() const;
};

class Redistributor {
 public:
  /// `mesh` and `machine` must outlive this. `largest_bytes`: see StepCost.
  Redistributor(const Mesh& mesh, const Machine& machine, double largest_bytes)
      : mesh_(mesh), machine_(machine), cost_(mesh, machine, largest_bytes), graph_(mesh, cost_) {}
  Redistributor(const Redistributor&) = delete;

  /// The steps from `from` to `to`, both on the mesh. With symbolic sizes, the steps are valid for
  /// every size and costs use assumed_size.h. The reference is valid until the next call.
  const Redistribution& plan(const TensorType& type, const Sharding& from, const Sharding& to);
  double cost_ns(const TensorType& type, const Sharding& from, const Sharding& to) {
    return plan(type, from, to).cost_ns;
  }
  /// The cheapest plans that leave out one of the steps of plan(). For explanations.
  std::vector<Redistribution> others(const TensorType& type, const Sharding& from,
                                     const Sharding& to);

  const Mesh& mesh() const { return mesh_; }
  const Machine& machine() const { return machine_; }
  const StepCost& cost() const { return cost_; }

 private:
  const Mesh& mesh_;
  const Machine& machine_;
  StepCost cost_;
  StepGraph graph_;
  std::unordered_map<std::string, Redistribution> plans_;  // by shape, dtype and both shardings
};

}  // namespace hostir
