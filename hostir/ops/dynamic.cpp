#include "hostir/ops/dynamic.h"

#include <fmt/core.h>

namespace hostir::ops {

Violated check_starts(const OpCall& call, size_t first) {
  const size_t rank = shape_of(call.operands[0]).size();
  if (call.operands.size() != first + rank) {
    return Violation{fmt::format("{} has {} starts for {} dimensions", record(call.kind).mnemonic,
                                 call.operands.size() - first, rank)};
  }
  for (size_t i = first; i < call.operands.size(); ++i) {
    if (shape_of(call.operands[i]).empty() && is_integer(dtype_of(call.operands[i]))) continue;
    return Violation{fmt::format("a start of {} is {}, not an integer scalar",
                                 record(call.kind).mnemonic, to_string(call.operands[i])),
                     static_cast<int>(i)};
  }
  return std::nullopt;
}

}  // namespace hostir::ops
