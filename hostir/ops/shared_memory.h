// Static detection of host operands that share memory.
//
// Each value is traced through views to its buffer. Views with bounds that are not numbers are left
// to the interpreter, which compares bytes.
#pragma once

#include "hostir/ops/host.h"

namespace hostir::ops {

/// True if both values are known to share an element.
bool surely_overlap(const Function& function, ValueId a, ValueId b);

}  // namespace hostir::ops
