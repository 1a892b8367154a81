// Arenas in the order of the text.
//
// Passes append; afterwards values stand in the order in which the text names them and nothing is
// left over, so that a function compares equal with itself printed and parsed again.
#pragma once

#include "hostir/ir/program.h"

namespace hostir {

/// The same function: parameters, then results in preorder; values that nothing defines are gone.
Function compacted(const Function& function);

}  // namespace hostir
