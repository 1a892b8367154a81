// Conversion between axes per dimension (a sharding) and axes per factor of a sharding rule.
//
// A dimension with one factor gives all its axes to that factor. A compound dimension (`[ij]`, in
// reshape) distributes them major to minor: a factor takes axes while they divide its size, and
// only the minor-most factor may be cut unevenly. The inverse keeps only axes that cut the merged
// dimension at the same places (see hostir/ir/sharding.h). A choice of axes is therefore valid for
// a tensor if project(assemble(x)) == x; legalized() shortens a choice until it is valid for every
// tensor of the op. The choice itself is made elsewhere (propagate, reshard).
#pragma once

#include <vector>

#include "hostir/ir/axes.h"
#include "hostir/ops/record.h"

namespace hostir {

using FactorAxes = std::vector<AxisList>;  // by factor

/// The axes that a tensor's dimensions give to each factor. Axes that fit no factor are dropped.
FactorAxes project(const Mesh& mesh, const ShardingRule& rule,
                   const std::vector<ShardingRule::DimFactors>& tensor,
                   const std::vector<DimSharding>& dims);

/// The dimension shardings, all closed, that result from the factors' axes.
std::vector<DimSharding> assemble(const Mesh& mesh, const ShardingRule& rule,
                                  const std::vector<ShardingRule::DimFactors>& tensor,
                                  const FactorAxes& axes);

/// The longest prefix of each factor's axes with which every rank can compute its result boxes from
/// its operand boxes. Factors that must be replicated get no axes, no axis serves two factors (the
/// earlier one keeps it), and every tensor can express the axes.
FactorAxes legalized(const Mesh& mesh, const ShardingRule& rule, FactorAxes axes);

/// The axes of all reduction factors; the results are partial over them.
AxisList reduced_axes(const Mesh& mesh, const ShardingRule& rule, const FactorAxes& axes);

/// True if one of the tensor's dimensions has this factor.
bool has_factor(const std::vector<ShardingRule::DimFactors>& tensor, int factor);

}  // namespace hostir
