// Reductions as folds of a tile program.
#pragma once

#include <optional>

#include "kernels/cpu/kernel.h"
#include "kernels/cpu/tile_program.h"

namespace hostir::cpu {

/// The fold that a reduction is, but for the register that it reads; nullopt where the op is none,
/// or its boxes or dtypes do not allow it.
std::optional<TileFold> plan_fold(const BoundKernel& kernel, const Instruction& instruction);

}  // namespace hostir::cpu
