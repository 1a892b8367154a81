// Which attribute of a communication op says where the data come from or go.
#pragma once

#include "hostir/ops/record.h"

namespace hostir {

/// The root, peer or shift: the only attribute of a communication op that is one expression.
/// Null: the op has none.
const AttributeSpec* position_attribute(OpKind kind);

}  // namespace hostir
