// Helpers for dynamic_slice and dynamic_update_slice, whose starts are scalar operands.
#pragma once

#include "hostir/ops/indexed.h"

namespace hostir::ops {

/// Operands `first` and later must be integer scalars, one per dimension of operand 0.
Violated check_starts(const OpCall& call, size_t first);

/// The slot of scalar positions, in which text may write numbers.
inline constexpr std::string_view kStartsSlot = "starts";
inline constexpr std::string_view kStarts =
    "The starts are integer scalars, one per dimension of x.";

}  // namespace hostir::ops
