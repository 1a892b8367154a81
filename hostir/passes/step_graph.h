// The graph in which redistributions are searched: shardings, and the single steps between them.
//
// Searches for values of one shape meet the same few hundred shardings again and again, so each is
// numbered once, and what is known about a pair of them is kept: whether one step leads from one to
// the other, what it costs, and which waypoints lie between them. Steps themselves are not kept,
// because a permute over 1,024 ranks is long: single_step() makes the few steps of a plan again.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "hostir/passes/redistribute_cost.h"

namespace hostir {

class StepGraph {
 public:
  using Node = uint32_t;

  /// Both must outlive this.
  StepGraph(const Mesh& mesh, const StepCost& cost) : mesh_(mesh), cost_(cost) {}

  /// Equal for equal shardings.
  Node node(const Sharding& sharding);
  const Sharding& sharding(Node node) const { return *shardings_[node]; }

  /// What is known about values of one shape and dtype.
  class Shaped {
   public:
    Shaped(StepGraph& graph, TensorType type) : graph_(graph), type_(std::move(type)) {}
    /// The cost of the step; nullopt if no single step leads there. Both shardings must be
    /// effective().
    std::optional<double> step_ns(Node from, Node to);

   private:
    StepGraph& graph_;
    TensorType type_;
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
  std::unordered_map<uint64_t, std::vector<Node>> waypoints_;  // by both nodes
};

}  // namespace hostir
