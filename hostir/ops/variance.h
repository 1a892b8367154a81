// The computation of reduce_var and reduce_std, which differ by a square root.
#pragma once

#include "hostir/ops/reduction.h"

namespace hostir::ops {

/// The attributes of a reduction, and `correction`.
std::vector<AttributeSpec> variance_attributes();
Values expand_variance(Builder& b);

}  // namespace hostir::ops
