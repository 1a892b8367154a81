// Plans redistributions of a fusion whose values are on one or several meshes.
//
//   1. On one mesh, the plan is that mesh's Redistributor's.
//   2. Between two meshes, a plan is: steps on the first mesh, one step between the meshes
//      (mesh_step.h), steps on the second mesh. The value crosses as it is, reduced, cut like the
//      target or cut over all ranks; on the other side it has the sharding with the most similar
//      boxes, the target's own, or one cut over all ranks. The cheapest combination wins, the one
//      with fewest steps among equals.
//   3. If both sides are cut over all ranks, every element is held once, so a plan always
//      exists. A value without dimensions crosses as a partial one: one rank gets it, and the mesh
//      adds up all addends.
#pragma once

#include <map>
#include <memory>

#include "hostir/ir/program.h"
#include "hostir/passes/meshes/mesh_step.h"
#include "hostir/passes/redistribute/redistribute.h"

namespace hostir {

struct KnownChoices;      // placement_choice.h
class PropagationMemory;  // propagation_memory.h

class MeshMoves {
 public:
  /// `machine` must outlive this. `largest_bytes`: see StepCost.
  MeshMoves(const Program& program, const Machine& machine, double largest_bytes);
  ~MeshMoves();

  const Mesh& mesh(const std::string& name) const;
  /// Plans within one mesh.
  Redistributor& on(const std::string& mesh);
  /// The choices made so far for the ops on one mesh.
  KnownChoices& choices_on(const std::string& mesh);
  /// What propagation has found on one mesh, in fusions without priorities.
  PropagationMemory& propagation_on(const std::string& mesh);

  /// The steps from `from` to `to`. The reference is valid until the next call.
  const Redistribution& plan(const TensorType& type, const Sharding& from, const Sharding& to);
  double cost_ns(const TensorType& type, const Sharding& from, const Sharding& to) {
    return plan(type, from, to).cost_ns;
  }
  /// Cost of one step, on one mesh or between two.
  double step_ns(const TensorType& type, const Sharding& from, const RedistributeStep& step);
  /// Bytes over one rank's link in a step; see StepCost::step_bytes().
  double step_bytes(const TensorType& type, const Sharding& from, const RedistributeStep& step);
  /// Bytes over one rank's link in a plan.
  double bytes(const TensorType& type, const Sharding& from, const Redistribution& plan);
  /// The best plans besides plan(), for explanations; none between two meshes.
  std::vector<Redistribution> others(const TensorType& type, const Sharding& from,
                                     const Sharding& to);
  const Machine& machine() const { return machine_; }

 private:
  Redistribution crossing(const TensorType& type, const Sharding& from, const Sharding& to);
  TransferElems transfer(const TensorType& type, const Sharding& from,
                         const RedistributeStep& step) const;
  double bytes_of_all_ranks(const TensorType& type, const Sharding& from,
                            const Redistribution& plan);

  const Machine& machine_;
  double largest_bytes_;
  std::vector<Mesh> meshes_;
  std::map<std::string, std::unique_ptr<Redistributor>> on_;  // by mesh
  std::map<std::string, std::unique_ptr<KnownChoices>> choices_on_;
  std::map<std::string, std::unique_ptr<PropagationMemory>> propagation_on_;
  std::map<std::string, Redistribution> crossings_;  // by type and both shardings
};

/// The sharding without partial axes.
Sharding reduced(Sharding s);

}  // namespace hostir
