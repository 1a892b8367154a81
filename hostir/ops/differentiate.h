// Reverse-mode differentiation: builds a fusion that computes another fusion and its gradients.
//
//   1. Expand composites that have no `vjp`.
//   2. Copy the instructions. Every floating-point result of the fusion gets a cotangent: a
//      parameter `%d_<result>` after the existing ones. If the only such result is a scalar, its
//      cotangent is 1.
//   3. Visit the instructions backwards. Each `vjp` maps the cotangents of the results to those of
//      the operands; several cotangents of one value are added.
//   4. Drop unused instructions. The results are those of the fusion, then `%d_<parameter>` for
//      each requested parameter, with the parameter's sharding.
// The result is an ordinary fusion: it prints, parses back and lowers. Propagation chooses the
// shardings of intermediate values.
#pragma once

#include <string>
#include <vector>

#include "hostir/ops/record.h"

namespace hostir {

/// `program` has the kernels that the fusion applies. `wrt` names the parameters to differentiate
/// for; empty means all floating-point parameters. Errors: `grad_c1` an op between a parameter and
/// a result has no gradient; `grad_c2` a name in `wrt` is not a floating-point parameter; `grad_c3`
/// the fusion has no floating-point result.
Expected<Function> differentiate(const Program& program, const Function& fusion, std::string name,
                                 const std::vector<std::string>& wrt = {});

}  // namespace hostir
