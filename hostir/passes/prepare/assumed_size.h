// The number that the compiler assumes for an unknown size when it chooses between plans.
#pragma once

#include "hostir/ir/index_expr.h"

namespace hostir {

/// The assumed number for a symbol. It is small, so that the number of collectives decides: which
/// of two plans moves fewer bytes depends on the unknown ratio of the sizes.
inline constexpr int64_t kAssumedSize = 64;

/// The value of an expression with kAssumedSize for its symbols, at least 1 unless it is constant.
/// Never affects correctness.
int64_t assumed_size(const IndexExpr& size);

}  // namespace hostir
