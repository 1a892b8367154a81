// Leaves out members of a group that move what another member moves, and what was computed only for
// them.
//
// A loop that computes its passes again for the gradient gathers each weight twice, to free it in
// between. Once both gathers are in one call, the second one only costs bytes and memory.
//
//   1. Two buffers hold the same if the same kernel made them of the same, from parameters on, and
//      nothing else writes them.
//   2. Of the members that move the same over one communicator, the first stays; who reads the
//      results of the others reads its result.
#pragma once

#include "hostir/ir/program.h"

namespace hostir {

/// `host` is straight-line, on one stream.
Function without_equal_members(Function host);

}  // namespace hostir
