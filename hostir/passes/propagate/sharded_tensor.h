// A participant in sharding propagation: a value of a fusion, or one of its declared results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hostir/ir/axes.h"
#include "hostir/ir/program.h"
#include "hostir/ir/type.h"

namespace hostir {

struct ShardedTensor {
  std::string name;
  std::vector<DimSharding> dims;
  AxisList taken;  // annotated as unreduced or pinned: no dimension may use them
  double elems = 1;
  uint64_t changes = 0;  // how often axes were added
  uint32_t state = 0;    // PropagationMemory::state_of(); 0: not known
  Origin id = {};
};

/// A tensor of this type. Without an annotation, all its dimensions are open.
ShardedTensor tensor_from(const std::string& name, const Type& type);

}  // namespace hostir
