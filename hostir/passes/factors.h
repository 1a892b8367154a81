// Shardings seen through a sharding rule: axes per factor instead of axes per dimension.
//
// A dimension of one factor hands its axes to it. A compound dimension (`[ij]`, of reshape) hands
// them out major to minor: a factor takes axes while they divide it, and only what is left over at
// the minor-most factor may be uneven. The way back keeps only what cuts the merged dimension at
// the same places (boxes decide, LANGUAGE section 2), so project(assemble(x)) == x tells whether a
// choice of axes is sound; legalized() shortens a choice until it is, for every tensor of the op.
// Absent here: which axes to choose (propagate, reshard).
#pragma once

#include <vector>

#include "hostir/ir/axes.h"
#include "hostir/ops/record.h"

namespace hostir {

using FactorAxes = std::vector<AxisList>;  // by factor

/// What a tensor's dimensions give to each factor. Axes that fit no factor are left out.
FactorAxes project(const Mesh& mesh, const ShardingRule& rule,
                   const std::vector<ShardingRule::DimFactors>& tensor,
                   const std::vector<DimSharding>& dims);

/// The dimensions' axes that the factors' axes amount to; closed.
std::vector<DimSharding> assemble(const Mesh& mesh, const ShardingRule& rule,
                                  const std::vector<ShardingRule::DimFactors>& tensor,
                                  const FactorAxes& axes);

/// The longest prefix of each factor's axes with which every rank's result boxes can be computed
/// from its operand boxes: factors that must be replicated lose theirs, no axis serves two factors
/// (the earlier one keeps it), and every tensor can express them.
FactorAxes legalized(const Mesh& mesh, const ShardingRule& rule, FactorAxes axes);

/// Axes of all reduction factors: the results are partial over them.
AxisList reduced_axes(const Mesh& mesh, const ShardingRule& rule, const FactorAxes& axes);

/// True if the tensor has this factor in one of its dimensions.
bool has_factor(const std::vector<ShardingRule::DimFactors>& tensor, int factor);

}  // namespace hostir
