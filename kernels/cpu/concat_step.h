// Concatenation as copies of runs, for every dtype, at memory speed.
#pragma once

#include <memory>

#include "kernels/cpu/step.h"

namespace hostir::cpu {

/// The step for a concat whose operands and result lie row-major in memory; null if the kernel's
/// boxes do not give this rank all elements of the result that it holds.
std::unique_ptr<Step> make_concat_step(const BoundKernel& kernel, const Instruction& instruction);

}  // namespace hostir::cpu
