// Helpers for the compute reductions (reduce_sum, ...).
//
// The attribute `dims` lists the dimensions to remove; with `keep_dims` they stay with size 1. A
// reduction over no elements gives the identity of its kind.
#pragma once

#include "hostir/ops/builder.h"

namespace hostir::ops {

Violated check_reduced_dims(const OpCall& call);
std::vector<AttributeSpec> reduction_attributes();
Expected<std::vector<Type>> infer_reduction(const OpCall& call);
/// The sharding rule; the reduced dimensions' factors have the reduction `kind`.
Expected<ShardingRule> make_reduction_rule(const OpCall& call, Reduction kind);
/// make_reduction_rule as a function that fits OpRecord::rule.
template <Reduction kind>
Expected<ShardingRule> reduction_rule(const OpCall& call, std::span<const Type>) {
  return make_reduction_rule(call, kind);
}
/// One flop per element read.
Cost reduction_cost(const OpCall& call, std::span<const Extents> operands,
                    std::span<const Extents> results);

/// For reduce_max and reduce_min: all elements equal to the result share its gradient.
Values extremum_vjp(Builder& b, std::span<const ValueId> dy);

inline constexpr std::string_view kReducedDims =
    "dims lists dimensions of the operand, each at most once.";
inline constexpr std::string_view kReductionShapes =
    "x of any shape; y without the dimensions in dims, or with size 1 there (keep_dims).";
inline constexpr std::string_view kReductionCost =
    "Reads x and writes y once (bytes); 1 flop per element of x.";

}  // namespace hostir::ops
