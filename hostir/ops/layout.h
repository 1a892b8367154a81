// What pack and unpack share: the attribute `blocks`, see hostir/ir/type.h.
#pragma once

#include "hostir/ops/common.h"

namespace hostir::ops {

AttributeSpec blocks_attribute();
Violated check_blocks(const OpCall& call);
/// The operand's type, sharding included.
Expected<std::vector<Type>> infer_layout(const OpCall& call);

inline constexpr std::string_view kBlocksRank = "blocks has the tensor's rank.";

}  // namespace hostir::ops
