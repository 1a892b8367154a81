// tril and triu differ only in the side of the diagonal that they keep.
#pragma once

#include "hostir/ops/builder.h"

namespace hostir::ops {

/// What both records have in common. `constraint`: the id of the one constraint.
OpRecord triangle_record(std::string_view constraint);
/// x where `row + diagonal` compares to the column in this direction, else 0.
Values triangle(Builder& b, std::string_view direction);

}  // namespace hostir::ops
