// The effects of earlier propagation edges: a model repeats its layers, so most of its edges repeat
// an earlier question.
//
// Two edges have the same effect if their rules, kinds of op, tensor sizes, shardings and treatment
// in this round are equal, and all priorities have come or none are used.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "hostir/ir/sharding.h"
#include "hostir/passes/explain.h"
#include "hostir/passes/propagate/propagation_edges.h"
#include "hostir/support/text_numbers.h"

namespace hostir {

/// Axes that an edge added to a dimension of one of its tensors, or a larger unit.
struct AxesMove {
  size_t tensor = 0;  // index into the edge's tensors
  size_t dim = 0;
  AxisList axes;   // all of the dimension, after the addition
  AxisList added;  // the last of `axes`
  int64_t unit = 1;
  int factor = 0;
  size_t source = 0;  // the tensor that the axes came from; numbered like `tensor`
};

/// Why the tensor `target` of the edge has these axes.
ExplainRecord explained(const PropagationEdge& edge, const AxesMove& move,
                        const std::string& target, const std::string& source);

class PropagationMemory {
 public:
  /// Equal for edges that do the same when their tensors are in equal states. `elems`: by tensor.
  uint32_t kind_of(const PropagationEdge& edge, std::span<const double> elems);
  /// Equal for tensors with equal shardings.
  uint32_t state_of(const std::vector<DimSharding>& dims, const AxisList& taken);

  /// `question`: the edge's kind, the states of its tensors and the way. Null: not known.
  const std::vector<AxesMove>* find(const std::string& question) const;
  void keep(std::string question, std::vector<AxesMove> moves);
  /// Forgets the answers, not the numbers.
  void forget() { answers_.clear(); }

 private:
  TextNumbers kinds_;
  TextNumbers states_;
  std::unordered_map<std::string, std::vector<AxesMove>> answers_;
};

}  // namespace hostir
