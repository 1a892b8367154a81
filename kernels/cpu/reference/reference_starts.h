// The start of the box of dynamic_slice and dynamic_update_slice.
#pragma once

#include <algorithm>

#include "kernels/cpu/reference/reference_gather.h"

namespace hostir::cpu {

/// The scalar operands from `first` on, clamped so that a box of `sizes` fits in `extents`.
inline std::vector<int64_t> box_start(const ReferenceCall& call, size_t first,
                                      const Extents& extents, const Extents& sizes) {
  std::vector<int64_t> start;
  for (size_t d = 0; d < extents.size(); ++d) {
    int64_t at = 0;
    load_ints(call.in[first + d]->dtype, call.in_data[first + d].data, 0, 1, &at);
    start.push_back(std::max<int64_t>(0, std::min(at, extents[d] - sizes[d])));
  }
  return start;
}

}  // namespace hostir::cpu
