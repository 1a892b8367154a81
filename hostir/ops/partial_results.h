// Which results of an op are partial if a reduction factor of its sharding rule is cut.
//
// A rule may name a factor that some results have and others lack, as the gradient of a product
// does: if the batch is cut, the gradient of the input is cut, and that of the weights is partial.
#pragma once

#include <algorithm>

#include "hostir/ops/sharding_rule.h"
#include "hostir/support/lists.h"

namespace hostir {

/// True if a cut of the factor leaves this result partial. Results that have the factor are cut.
inline bool leaves_partial(const ShardingRule& rule, int factor, size_t result) {
  const auto has_it = [&](const auto& dim) { return contains(dim, factor); };
  return contains(rule.reduction, factor) && std::ranges::none_of(rule.results[result], has_it);
}

}  // namespace hostir
