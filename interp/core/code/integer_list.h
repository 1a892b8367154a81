// Lists of host integers in compiled code: one register for each integer, one after another.
#pragma once

#include "interp/core/code/code.h"

namespace hostir::interp {

/// How many registers the list has that begins with this one; 1 for any other register.
uint32_t list_size(const Code& code, uint32_t first);

}  // namespace hostir::interp
