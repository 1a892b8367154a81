// Copies between row-major and block order.
#pragma once

#include "kernels/cpu/kernel.h"

namespace hostir::cpu {

/// Copies the intersection of two placements, each row-major over its box or in its block order.
void relayout(const Placement& from, ConstMemory source, const Placement& to, Memory target);

}  // namespace hostir::cpu
