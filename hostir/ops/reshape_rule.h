// The sharding rule of reshape: merged and split dimensions as compound factors.
//
// Both shapes are walked from the major end. Where the products so far agree, the greatest common
// divisor of what is left of the two current dimensions is a factor of both; otherwise the side
// that is behind gets factors of its own until they agree again. Source: Shardy's rule of
// stablehlo.reshape, whose table it reproduces.
#pragma once

#include "hostir/ops/sharding_rule.h"

namespace hostir::ops {

ShardingRule reshape_rule(const Shape& from, const Shape& to);

}  // namespace hostir::ops
