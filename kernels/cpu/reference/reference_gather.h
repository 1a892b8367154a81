// Ops that only move elements: one loop over the result's box.
#pragma once

#include <cstring>

#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

/// Fills the result's box. `locate(result index, operand index)` determines the operand element to
/// take; both are global indices. Elements outside the operand's box are left zero (the passes make
/// sure there are none).
template <class Locate>
void gather(const ReferenceCall& call, size_t operand, const Box& part, Locate locate) {
  const Placement& in = *call.in[operand];
  const Placement& out = *call.out[0];
  const auto element = static_cast<size_t>(size_bytes(out.dtype));
  const BoxIndexer read(in.box);
  const BoxIndexer write(out.box);
  std::vector<int64_t> source(in.global.size(), 0);
  for_each_index(part, [&](const std::vector<int64_t>& index) {
    locate(index, source);
    std::byte* to = call.out_data[0].data + static_cast<size_t>(write.offset(index)) * element;
    if (read.contains(source)) {
      const auto offset = static_cast<size_t>(read.offset(source));
      std::memcpy(to, call.in_data[operand].data + offset * element, element);
    } else {
      std::memset(to, 0, element);
    }
  });
}

}  // namespace hostir::cpu
