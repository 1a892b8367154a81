// Lists of host integers in compiled code: one register for each integer, one after another.
#pragma once

#include "interp/core/code/code.h"

namespace hostir::interp {

/// The number of registers of the list that begins with this one; 1 for any other register.
uint32_t list_size(const Code& code, uint32_t first);

}  // namespace hostir::interp
