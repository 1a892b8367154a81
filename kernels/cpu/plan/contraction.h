// The reference loops of matmul and linear.
//
// Products accumulate in order of k: floats in f64, rounded once; integers wrapping in 64 bits. The
// loops cover the intersection of the operands' k ranges on this rank: over a sharded k the result
// is partial.
#pragma once

#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

/// Layout of the right operand: `[..., k, n]` (matmul) or `[n, k]` (linear).
enum class RightLayout : uint8_t { kRowsAreK, kRowsAreN };

/// result[..., i, j] = sum over k of left[..., i, k] * right, plus bias[j] if there is one.
void contract(const ReferenceCall& call, RightLayout layout);

}  // namespace hostir::cpu
