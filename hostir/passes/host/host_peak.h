// The most memory that a rank holds at once while it runs a host function, from its allocs and
// frees.
#pragma once

#include "hostir/ir/program.h"

namespace hostir {

/// In bytes, without parameters, on the rank with the largest parts; `host` is straight-line, after
/// assign_lifetimes(). Unknown sizes count as in assumed_size.h.
double allocated_peak(const Program& program, const Function& host);

}  // namespace hostir
