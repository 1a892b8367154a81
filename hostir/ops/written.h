// Helpers for ops whose result type does not follow from the operands. It is written in the text
// (`%i = iota : type`) or, for ops that change the shape, given by the attribute `shape`.
#pragma once

#include "hostir/ops/common.h"

namespace hostir::ops {

/// The result is the written tensor type without its sharding.
Expected<std::vector<Type>> infer_written(const OpCall& call);
/// The result's type must be written.
Violated check_written(const OpCall& call);
/// The shape from the attribute `shape`, else from the written type, else nullptr.
const Shape* wanted_shape(const OpCall& call);
Violated check_wanted_shape(const OpCall& call);
/// The rule of a source: each result dimension has its own factor.
Expected<ShardingRule> source_rule(const OpCall& call, std::span<const Type> results);

inline constexpr std::string_view kWritten =
    "The result type must be written, because it does not follow from the operands.";
inline constexpr std::string_view kWantedShape =
    "The result's shape is given, by the attribute shape or by a written type.";

}  // namespace hostir::ops
