#include "traces/import/assemble/call_parts.h"

#include <cstdint>
#include <optional>

namespace hostir::traces::import {

void add_part(model::Call& block, const model::Call& part) {
  block.inputs.insert(block.inputs.end(), part.inputs.begin(), part.inputs.end());
  block.outputs.insert(block.outputs.end(), part.outputs.begin(), part.outputs.end());
  const auto add = [](std::optional<int64_t>& sum, const std::optional<int64_t>& more) {
    int64_t both = 0;
    const bool known = sum && more && !__builtin_add_overflow(*sum, *more, &both);
    sum = known ? std::optional(both) : std::nullopt;
  };
  add(block.total_elems, part.total_elems);
  add(block.local_elems, part.local_elems);
  block.sends.clear();
  block.receives.clear();
  if (block.kind != part.kind || !block.kind) {
    block.kind.reset();
    if (block.name.find(part.name) == std::string::npos) block.name += "+" + part.name;
  }
  if (block.dtype != part.dtype) block.dtype.reset();
}

void forget_sizes(model::Call& call) {
  call.inputs.clear();
  call.outputs.clear();
  call.shape.reset();
  call.total_elems.reset();
  call.local_elems.reset();
  call.sends.clear();
  call.receives.clear();
}

}  // namespace hostir::traces::import
