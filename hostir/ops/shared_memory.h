// Which operands of a host instruction share memory, as far as the text alone tells.
//
// A name is followed through views to the buffer that it is a part of. Views with bounds that are
// not numbers are left to the interpreter, which compares bytes.
#pragma once

#include "hostir/ops/host.h"

namespace hostir::ops {

/// True if both are known to have an element in common.
bool surely_overlap(const Function& function, ValueId a, ValueId b);

}  // namespace hostir::ops
