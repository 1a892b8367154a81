// Derives the factor sizes of a rule from the types it is applied to.
//
// A plain dimension gives the size of its factor. A compound dimension with one unknown factor
// gives that factor's size by division. All sizes found for a factor must agree.
#pragma once

#include <span>

#include "hostir/ops/sharding_rule.h"

namespace hostir::ops {

/// Marks a size that is not known yet.
inline constexpr int64_t kUnboundSize = -1;

/// Fills in `rule.factor_sizes`. The rule must have the right number of tensors. `names`: the
/// factors as the user wrote them, for errors. Errors: `rule_c2`,
/// `rule_c3`.
Expected<void> bind_factor_sizes(ShardingRule& rule, std::span<const std::string> names,
                                 std::span<const Type> operands, std::span<const Type> results);

}  // namespace hostir::ops
