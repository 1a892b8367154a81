#include "hostir/passes/prepare/assumed_size.h"

#include <algorithm>

namespace hostir {

int64_t assumed_size(const IndexExpr& size) {
  const IndexExpr simple = size.simplified();
  if (simple.is_const()) return simple.value();
  const auto value = simple.evaluate([](const IndexExpr&) { return kAssumedSize; });
  return value ? std::max<int64_t>(1, *value) : kAssumedSize;
}

}  // namespace hostir
