// The precision of a host program's buffers: what a backend may have rounded on the way to them.
#pragma once

#include <optional>
#include <vector>

#include "interp/core/code/code.h"

namespace hostir::interp {

/// By register: the dtype with the fewest digits to which its contents, or what they were computed
/// from, may have been rounded; nullopt: nothing was computed, so two backends have equal bits.
/// Holds for the whole run, whatever the order of the instructions.
std::vector<std::optional<DType>> register_roundings(const Code& code);

}  // namespace hostir::interp
