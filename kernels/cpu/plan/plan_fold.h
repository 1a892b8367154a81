// Plans reductions as folds of a tile program.
#pragma once

#include <optional>

#include "kernels/cpu/tile/tile_program.h"

namespace hostir::cpu {

/// The fold for a reduction, without the register it reads; nullopt if the op is not a reduction,
/// or if its boxes or dtypes do not allow it.
std::optional<TileFold> plan_fold(const BoundKernel& kernel, const Instruction& instruction);

}  // namespace hostir::cpu
