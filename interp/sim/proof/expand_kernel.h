// Converts a kernel to the form that the prover compares: sizes are numbers, and an op that does
// something after a sum (linear with bias, reduce_mean) becomes two ops.
#pragma once

#include "hostir/ops/apply.h"

namespace hostir::sim::proof {

Function expanded_kernel(const Program& program, const Function& kernel,
                         const ops::NamedSizes& sizes);

}  // namespace hostir::sim::proof
