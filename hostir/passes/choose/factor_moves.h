// Factors whose cut an op cannot keep as it is: shifted ones (slice, concat, pad, reverse), and
// axes that a change of shape loses. Candidates for OpChooser, which compares their costs.
#pragma once

#include <optional>
#include <vector>

#include "hostir/passes/propagate/factors.h"

namespace hostir {

/// The rule with each shifted factor of an operand replaced by the result's, which may be cut.
ShardingRule with_shifts_cut(ShardingRule rule);
/// The dimension that has only this factor.
std::optional<size_t> dim_of_factor(const ShardingRule::TensorFactors& tensor, int factor);
/// True if a dimension has several factors.
bool has_compound(const ShardingRule& rule);
/// For an operand whose sharding `held` has axes that the rule cannot keep (8 heads on 3 ranks):
/// the choices in which these axes cut another factor. `seen`: the operand's axes by factor.
std::vector<FactorCuts> with_lost_axes_moved(const Mesh& mesh, const ShardingRule& rule,
                                             const Sharding& held, const FactorCuts& seen);

}  // namespace hostir
