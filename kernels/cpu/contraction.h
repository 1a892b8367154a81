// The plain loops of matmul and linear.
//
// Products accumulate in order of k, floats in f64 and rounded once, integers wrapping in 64 bits.
// The operands' k ranges on this rank are intersected: over a sharded k the result is partial.
#pragma once

#include "kernels/cpu/reference_support.h"

namespace hostir::cpu {

/// Where the right operand keeps its n: `[..., k, n]` (matmul) or `[n, k]` (linear).
enum class RightLayout : uint8_t { kRowsAreK, kRowsAreN };

/// result[..., i, j] = sum over k of left[..., i, k] * right, plus bias[j] if there is one.
void contract(const ReferenceCall& call, RightLayout layout);

}  // namespace hostir::cpu
