// The sizes of a written rule's factors, from the types it is applied to.
//
// Plain dimensions give their factor's size; a compound dimension with one unknown factor gives
// that by division. Every size that is known twice must agree.
#pragma once

#include <span>

#include "hostir/ops/sharding_rule.h"

namespace hostir::ops {

/// Stands for a size that is not known yet.
inline constexpr int64_t kUnboundSize = -1;

/// Fills `rule.factor_sizes`; the numbers of tensors must fit. Errors: `rule_c2`, `rule_c3`.
Expected<void> bind_factor_sizes(ShardingRule& rule, std::span<const Type> operands,
                                 std::span<const Type> results);

}  // namespace hostir::ops
