// Helpers for pack and unpack: the attribute `blocks`, see hostir/ir/type.h.
#pragma once

#include "hostir/ops/common.h"

namespace hostir::ops {

AttributeSpec blocks_attribute();
Violated check_blocks(const OpCall& call);
/// The operand's type, including its sharding.
Expected<std::vector<Type>> infer_layout(const OpCall& call);

inline constexpr std::string_view kBlocksRank = "blocks has the tensor's rank.";

}  // namespace hostir::ops
