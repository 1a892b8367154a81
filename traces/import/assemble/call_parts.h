// Collectives that are issued in one launch count as one call.
#pragma once

#include "interp/model/meeting.h"

namespace hostir::traces::import {

/// Adds the sizes of `part`; fields in which the parts differ become unknown.
void add_part(model::Call& block, const model::Call& part);
/// For a block that has lost parts.
void forget_sizes(model::Call& call);

}  // namespace hostir::traces::import
