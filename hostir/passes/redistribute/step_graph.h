// The graph in which redistributions are searched: shardings, and the single steps between them.
//
// Searches for values of one shape meet the same few hundred shardings again and again, so each is
// numbered once, and what is known about a pair of them is kept: whether one step leads from one to
// the other, what it costs, and which waypoints lie between them. Whether there is a step depends
// on the places of the cuts, not on sizes: shapes that are cut alike share the answer. The pairs of
// a permute over 1,024 ranks are not kept: single_step() makes the few steps of a plan again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "hostir/passes/redistribute/redistribute_cost.h"

namespace hostir {

class StepGraph {
 public:
  using Node = uint32_t;

  /// Both must outlive this.
  StepGraph(const Mesh& mesh, const StepCost& cost) : mesh_(mesh), cost_(cost) {}

  /// Equal for equal shardings.
  Node node(const Sharding& sharding);
  const Sharding& sharding(Node node) const { return *shardings_[node]; }

  /// The steps by both nodes, without `pairs`; nullopt where there is none.
  using Steps = std::unordered_map<uint64_t, std::optional<RedistributeStep>>;

  /// What is known about values of one shape and dtype.
  class Shaped {
   public:
    Shaped(StepGraph& graph, TensorType type);
    /// The cost of the step; nullopt if no single step leads there. Both shardings must be
    /// effective().
    std::optional<double> step_ns(Node from, Node to);

   private:
    StepGraph& graph_;
    TensorType type_;
    Shape alike_;                                                // is cut like the type's shape
    Steps& steps_alike_;                                         // of all such shapes
    std::unordered_map<uint64_t, std::optional<double>> steps_;  // by both nodes
  };
  /// `key` must be equal for equal shapes and dtypes.
  Shaped& shaped(const TensorType& type, const std::string& key);

  /// waypoints() without repetitions.
  const std::vector<Node>& waypoints(Node at, Node target);

 private:
  struct Hash {
    size_t operator()(const Sharding& s) const;
  };

  const Mesh& mesh_;
  const StepCost& cost_;
  std::unordered_map<Sharding, Node, Hash> nodes_;
  std::vector<const Sharding*> shardings_;  // by node: keys of nodes_
  std::unordered_map<std::string, Shaped> shaped_;
  std::map<std::string, Steps> steps_alike_;                   // by Shaped::alike_
  std::unordered_map<uint64_t, std::vector<Node>> waypoints_;  // by both nodes
};

}  // namespace hostir
