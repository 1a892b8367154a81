#include "hostir/passes/propagate/sharded_tensor.h"

#include "hostir/passes/prepare/assumed_size.h"

namespace hostir {

ShardedTensor tensor_from(const std::string& name, const Type& type) {
  ShardedTensor t;
  t.name = name;
  for (const IndexExpr& size : shape_of(type)) t.elems *= static_cast<double>(assumed_size(size));
  if (const Sharding* s = sharding_of(type)) {
    t.dims = s->dims;
    t.taken = s->unreduced;
    t.taken.insert(t.taken.end(), s->pinned.begin(), s->pinned.end());
  } else {
    t.dims.assign(shape_of(type).size(), DimSharding{{}, true});
  }
  return t;
}

}  // namespace hostir
