// The computation of tril and triu.
#pragma once

#include "hostir/ops/builder.h"

namespace hostir::ops {

inline constexpr std::string_view kMatrices = "The operand has two dimensions or more.";
Violated check_matrices(const OpCall& call);
AttributeSpec diagonal_attribute();
/// x where `row + diagonal` compares to the column in this direction, else 0.
Values triangle(Builder& b, std::string_view direction);

}  // namespace hostir::ops
