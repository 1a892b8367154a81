// The homes of an axis: the dimensions that it cuts if the tensors of an op disagree.
//
// FSDP cuts the batch and every parameter over the same axis, and an op that has both can
// keep only one of them. If each op decides alone, the axis moves from one dimension to
// another, and activations are gathered and moved. With homes, an axis cuts nothing else in
// the ops that have one of them: if the batch is the home, parameters are gathered where they
// are used, and their gradients are reduce-scattered. Ops without a home are free: an
// optimiser works on the parts of parameters as they are held. home_search.h chooses the
// homes.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "hostir/ir/program.h"
#include "hostir/ops/sharding_rule.h"

namespace hostir {

/// By axis: the dimensions of parameters and results, by name, that are its homes.
using NamedHomes = std::map<std::string, std::set<std::pair<std::string, size_t>>>;

class AxisHomes {
 public:
  struct Dim {
    size_t tensor = 0;  // numbered as in propagation_edges()
    size_t dim = 0;
    friend auto operator<=>(const Dim&, const Dim&) = default;
  };

  bool empty() const { return axes_.empty(); }
  /// `homes`: every dimension of every tensor that is a home of the axis.
  void add(const std::string& axis, const std::vector<Dim>& homes);
  /// By factor: the axes that may not cut it because the op has a home of theirs elsewhere. Empty
  /// if there are none. `tensors`: its operands, then its results; unknown ones have no homes.
  std::vector<AxisList> barred(const ShardingRule& rule, std::span<const size_t> tensors) const;
  /// The homes among the parameters and results of `fusion`, for which this was made.
  NamedHomes named(const Function& fusion) const;
  /// The facts about a tensor that barred() reads, as a text; empty for a tensor without homes.
  std::string text(size_t tensor) const;

 private:
  std::vector<size_t> dims_of(size_t tensor, size_t axis) const;

  std::vector<std::string> axes_;
  std::vector<std::vector<uint32_t>> homes_of_;  // by tensor and dimension: a bit for each axis
};

}  // namespace hostir
