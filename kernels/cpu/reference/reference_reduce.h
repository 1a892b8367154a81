// The loop of all reductions.
#pragma once

#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

struct ReduceOps {
  Reduction kind;
  RealBinary real;
  IntBinary integer;
  UintBinary natural = nullptr;  // of unsigned integers, where it differs
};

/// Reduces the dimensions of the attribute `dims` in row-major order. Floats accumulate in f64 and
/// are rounded once; an empty reduction gives the identity. Only this rank's elements are reduced:
/// over a sharded dimension the result is partial.
void reduce(const ReferenceCall& call, const ReduceOps& ops);

/// Like reduce with sum, then divides by `divisor`; integers round toward zero.
void reduce_and_divide(const ReferenceCall& call, int64_t divisor);

/// Number of global elements reduced into one.
int64_t folded_elems(const ReferenceCall& call);

}  // namespace hostir::cpu
