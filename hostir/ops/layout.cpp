#include "hostir/ops/layout.h"

#include <fmt/core.h>

namespace hostir::ops {

AttributeSpec blocks_attribute() {
  return {.name = "blocks",
          .type = AttributeSpec::Type::kSharding,
          .doc = "whose boxes cut this rank's box into blocks",
          .required = true};
}

Violated check_blocks(const OpCall& call) {
  const auto* blocks = call.attributes.get<Sharding>("blocks");
  const size_t rank = shape_of(call.operands[0]).size();
  if (blocks == nullptr || blocks->dims.size() == rank) return std::nullopt;
  return Violation{fmt::format("blocks of {} have {} dimensions, the tensor has {}",
                               record(call.kind).mnemonic, blocks->dims.size(), rank)};
}

Expected<std::vector<Type>> infer_layout(const OpCall& call) {
  TensorType type;
  type.dtype = dtype_of(call.operands[0]);
  type.shape = shape_of(call.operands[0]);
  if (const Sharding* sharding = sharding_of(call.operands[0])) type.sharding = *sharding;
  return inferred(std::move(type));
}

}  // namespace hostir::ops
