// The sharding rule of reshape: merged and split dimensions as compound factors.
//
// The algorithm walks both shapes from the major end. While the products so far agree, the greatest
// common divisor of the rests of the two current dimensions becomes a shared factor. Otherwise the
// side that is behind gets factors of its own until the products agree again. Source: Shardy's rule
// for stablehlo.reshape, whose table this reproduces.
#pragma once

#include "hostir/ops/sharding_rule.h"

namespace hostir::ops {

ShardingRule reshape_rule(const Shape& from, const Shape& to);

}  // namespace hostir::ops
