// A kernel in the form that the prover compares: sizes as numbers, and ops that are a sum and
// something after it (linear with bias, reduce_mean) as these two.
#pragma once

#include "hostir/ops/apply.h"

namespace hostir::sim::proof {

Function expanded_kernel(const Program& program, const Function& kernel,
                         const ops::NamedSizes& sizes);

}  // namespace hostir::sim::proof
