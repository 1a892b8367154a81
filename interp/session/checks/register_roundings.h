// The precision of a host program's buffers: to which dtypes a backend may have rounded their
// contents.
#pragma once

#include <optional>
#include <vector>

#include "interp/core/code/code.h"

namespace hostir::interp {

/// By register: the dtype with the fewest digits to which its contents or their origins may have
/// been rounded; nullopt: nothing was computed, so two backends have equal bits. Holds for the
/// whole run, whatever the order of the instructions.
std::vector<std::optional<DType>> register_roundings(const Code& code);

}  // namespace hostir::interp
