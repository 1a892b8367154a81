// From one sharding of a value to another: the steps of communication that cost least.
//
//   1. Between the two shardings lie others that a value may pass: cut further towards the target,
//      reduced or reduce-scattered, gathered where the target is not cut, exchanged between
//      dimensions, partial over more axes. Each is one step from the one before
//      (redistribute_step.h), with a cost on the machine.
//   2. The cheapest way through them is taken, of equally cheap ones the one of fewest steps.
//   3. Reducing and gathering everything and slicing the rest is always among them, so a plan
//   exists
//      for every pair, also where parts of axes do not nest.
// Plans are kept: a fusion asks for the same few again and again. Absent here: which sharding a
// value should have (placement_choice.h).
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "hostir/passes/redistribute_cost.h"

namespace hostir {

struct Redistribution {
  std::vector<RedistributeStep> steps;  // empty if nothing is to do
  double cost_ns = 0;
};

class Redistributor {
 public:
  /// Both must outlive this. `largest_bytes` as StepCost has it.
  Redistributor(const Mesh& mesh, const Machine& machine, double largest_bytes)
      : mesh_(mesh), cost_(mesh, machine, largest_bytes) {}

  /// The steps from `from` to `to`, both on the mesh. With symbolic sizes the steps hold for every
  /// size, and costs are those of the size 1024. The reference is good until the next call.
  const Redistribution& plan(const TensorType& type, const Sharding& from, const Sharding& to);
  double cost_ns(const TensorType& type, const Sharding& from, const Sharding& to) {
    return plan(type, from, to).cost_ns;
  }

  const Mesh& mesh() const { return mesh_; }
  const StepCost& cost() const { return cost_; }

 private:
  const Mesh& mesh_;
  StepCost cost_;
  std::unordered_map<std::string, Redistribution> plans_;  // by shape, dtype and both shardings
};

}  // namespace hostir
