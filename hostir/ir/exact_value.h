// Whether an integer dtype can hold a number that a text gives.
#pragma once

#include <optional>
#include <string>

#include "hostir/ir/dtype.h"

namespace hostir {

/// Why `number` is not a value of an integer dtype or i1: "0.5 is not a whole number". nullopt if
/// it is one, and for floats, which round.
std::optional<std::string> why_not_exact(DType dtype, double number);

}  // namespace hostir
