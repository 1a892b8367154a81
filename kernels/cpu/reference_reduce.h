// The loop of every reduction.
#pragma once

#include "kernels/cpu/reference_support.h"

namespace hostir::cpu {

struct ReduceOps {
  Reduction kind;
  RealBinary real;
  IntBinary integer;
};

/// Folds the dimensions of the attribute `dims` in row-major order. Floats accumulate in f64 and
/// are rounded once; what has no elements is the identity. Only this rank's elements are folded:
/// over a sharded dimension the result is partial.
void reduce(const ReferenceCall& call, const ReduceOps& ops);

/// As reduce with sum, and divides by `divisor`; integers round toward zero.
void reduce_and_divide(const ReferenceCall& call, int64_t divisor);

/// Number of global elements folded into one.
int64_t folded_elems(const ReferenceCall& call);

}  // namespace hostir::cpu
