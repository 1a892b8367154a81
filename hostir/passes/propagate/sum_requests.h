// Requests for what is computed from partial sums: a sum that ops want cut is scattered, and never
// reduced whole.
//
// An op that takes the sum whole would decide how it is reduced before the others are asked: the
// square of a gradient for the global norm, before the cut update. Every rank has only an addend of
// the sum, so a part costs half of what the whole costs.
//   1. From the last value to the first: a value that is computed from a partial sum element by
//      element, or by a change of shape, is requested in the cut that all its users want, as far as
//      that cuts it over the axes of the sum.
//   2. If some users of a sum want it cut over its axes, the others get the same cut, provided that
//      pointwise ops and reductions are all that follows them.
// Annotated values, and values that are returned, stay as requested.
#pragma once

#include <vector>

#include "hostir/passes/choose/placement_key.h"

namespace hostir {

/// `requests`: by value of `fusion`, which propagate() made.
void request_scattered_sums(const Program& program, const Function& fusion,
                            std::vector<RequestedSharding>& requests);

}  // namespace hostir
