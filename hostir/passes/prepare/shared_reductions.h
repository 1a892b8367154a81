// Computes equal reductions once.
//
// softmax and cross_entropy of the same logits both need their maximum and the sum of their
// exponentials. Each is a pass over the logits and, if the classes are cut, a collective.
//
//   1. Two ops are equal if they have the same kind, attributes and equal operands.
//   2. Uses of a reduction that equals an earlier one take the earlier result. A reduction with an
//      annotation of its own stays, and so does one whose value is to be kept. Those of a composite
//      with products (attention) stay: it is one kernel only if it has all its ops.
//   3. Ops that only the dropped reductions used are dropped, too.
// Other equal ops stay: they cost no communication, and their results may be large. A fusion that
// computes something again does so to free memory in between (recompute).
#pragma once

#include <span>
#include <string>

#include "hostir/ir/program.h"

namespace hostir {

Function with_shared_reductions(Function fusion, std::span<const ValueId> keep);

}  // namespace hostir
