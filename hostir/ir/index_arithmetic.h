// The arithmetic of index expressions, shared by the compiler's folding and by evaluation at run
// time.
#pragma once

#include <cstdint>

#include "hostir/ir/index_expr.h"

namespace hostir {

/// Division rounds down; comparisons and logical operators give 0 or 1. False, with `out`
/// unspecified, if the result does not exist (overflow, division by zero) or `kind` is a leaf.
bool apply_index_op(IndexExpr::Kind kind, int64_t a, int64_t b, int64_t& out);

}  // namespace hostir
