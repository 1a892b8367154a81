// Lists of host integers: what `read` makes of ranges, and `counts(..)` and `receives(..)` take.
//
// A list has the type of an integer, because its length is known only with the mesh. What else an
// expression may name is one integer, so code that resolves a name asks here.
#pragma once

#include "hostir/ir/program.h"

namespace hostir::ops {

/// True if the value is the result of a `read` of ranges, not reduced to one integer.
bool is_integer_list(const Function& function, ValueId value);

}  // namespace hostir::ops
