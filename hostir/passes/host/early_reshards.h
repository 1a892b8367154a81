// Moves reshards to where their operands are made.
//
// insert_reshards() writes a reshard in front of the op that needs it. The gradient of a weight is
// needed at `return` or by the optimiser, so its sum would start when the backward pass is over,
// and until then every rank would hold the whole gradients of all layers.
//
//   1. A reshard moves if nothing else uses its operand and its result has no more elements: no
//      rank holds more than before. Of a sum in several steps, the last may be as large as the
//      operand of the first. Any other gather stays where its result is used.
//   2. It moves right behind the kernel or the reshard that makes its operand, in the order of the
//      text. A reshard of a parameter stays.
// Kernels stay as they are: the pass runs after segment().
#pragma once

#include "hostir/passes/host/segment.h"

namespace hostir {

/// `fusion` is the function that `segments` was made from.
void move_reshards_up(const Program& program, const Function& fusion, Segments& segments);

}  // namespace hostir
