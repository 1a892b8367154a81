// The dimensions of a dot_general by role, for its record and its kernels.
#pragma once

#include "hostir/ir/attribute.h"

namespace hostir::ops {

struct DotDims {
  IntList lhs_batch, rhs_batch;        // in both operands and the result, pairwise
  IntList lhs_contract, rhs_contract;  // summed over, pairwise
  IntList lhs_free, rhs_free;          // the rest, in order
};

/// `lhs_rank` and `rhs_rank` are the operands' ranks; the result's dimensions are batch, lhs_free,
/// rhs_free.
DotDims dot_dims(const Attributes& attributes, size_t lhs_rank, size_t rhs_rank);

}  // namespace hostir::ops
