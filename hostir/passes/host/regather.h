// Gathers parameters again for later uses instead of keeping them.
//
// With FSDP, a layer gathers its weights for the forward pass, and the backward pass uses them
// again. A loop over layers gathers them again there, because it does not keep what is made from
// stacked weights. Layers that are written out share one gather, and every rank would hold the
// weights of all layers at the turn from forward to backward. (Source: FSDP's
// `reshard_after_forward`, which is on by default.)
//
//   1. A gathered parameter is a value made from one parameter alone, by reshards, at least one of
//      which makes it larger, and by kernels without products (a cast, a transpose).
//   2. Estimate the memory of a rank after each item. Where it is highest, each gathered parameter
//      that is held there, but not used, is gathered again right before its next use. Repeat until
//      the highest point does not change.
//   3. Keep those whose second gather turns out to lower the peak no further, the shortest time
//      between uses first.
//   4. If all together lower the peak by less than kLeastSaved, everything stays as it was. The
//      caller asks the same of the host functions, whose frees wait for streams (pass_list.cpp).
// The rule looks at memory alone, so a program of layers takes as much as the loop over them.
// `lower --skip regather` keeps the gathered parameters. The pass runs after move_reshards_up().
#pragma once

#include "hostir/passes/choose/reshard.h"
#include "hostir/passes/host/segment.h"

namespace hostir {

/// The part of the peak memory that gathering again must save.
inline constexpr double kLeastSaved = 0.05;

/// `steps` is the fusion that `segments` was made from; it gets the new reshards.
void regather_parameters(const Program& program, Resharded& steps, Segments& segments,
                         MeshMoves& moves, Explanation& explanation);

}  // namespace hostir
