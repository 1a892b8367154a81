// Concatenation as copies of runs, for every dtype, at memory speed.
#pragma once

#include <memory>

#include "kernels/cpu/step.h"

namespace hostir::cpu {

/// The step for a concat whose operands and result are row-major in memory; null if the operands'
/// boxes do not cover this rank's part of the result.
std::unique_ptr<Step> make_concat_step(const BoundKernel& kernel, const Instruction& instruction);

}  // namespace hostir::cpu
