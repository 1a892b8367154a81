// Reverse-mode differentiation: a fusion that computes another one and its gradients.
//
//   1. Composites that have no gradient of their own are expanded.
//   2. The instructions are copied. Every floating-point result of the fusion gets a cotangent: a
//      parameter `%d_<result>` behind the others; where the only one is a scalar, it is 1.
//   3. Backwards through the instructions: each `vjp` turns the cotangents of the results into
//   those
//      of the operands; several of one value are added.
//   4. What nobody needs is dropped. Results: those of the fusion, then `%d_<parameter>` for each
//      parameter that is asked for, sharded as that is.
// The result is text like any other: it prints, reads back and lowers. Shardings of the values in
// between are left to propagation.
#pragma once

#include <string>
#include <vector>

#include "hostir/ops/record.h"

namespace hostir {

/// `wrt`: parameters by name; empty: all that are floating-point.
/// Errors: `grad_c1` an op on the way has no gradient, `grad_c2` `wrt` names no floating-point
/// parameter, `grad_c3` the fusion has no floating-point result.
Expected<Function> differentiate(const Function& fusion, std::string name,
                                 const std::vector<std::string>& wrt = {});

}  // namespace hostir
