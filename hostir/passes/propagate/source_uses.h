// Values without operands that several ops use, such as constants. Each rank can make them under
// any sharding, so propagation passes no axes from one of their uses to another: two ops that share
// a constant of zeros are unrelated. Annotated values are not separated.
#pragma once

#include <vector>

#include "hostir/ir/program.h"
#include "hostir/passes/propagate/propagation_edges.h"

namespace hostir {

class SourceUses {
 public:
  /// `annotated` is indexed by value.
  SourceUses(const Function& fusion, const std::vector<bool>& annotated);

  /// Gives each use of such a value a separate tensor, numbered from `next` on. Returns the value
  /// behind each new tensor.
  std::vector<size_t> separate(std::vector<PropagationEdge>& edges, size_t next);

  /// The values that were separated, each followed by the tensors of its uses.
  const std::vector<std::vector<size_t>>& uses() const { return uses_; }

 private:
  std::vector<bool> is_source_;   // by value
  std::vector<size_t> place_of_;  // by value: in `uses_`, plus 1
  std::vector<std::vector<size_t>> uses_;
};

}  // namespace hostir
