// Rows along one dimension, for cumsum and sort.
#pragma once

#include "kernels/cpu/reference/reference_indices.h"

namespace hostir::cpu {

/// Calls `f(first, step, length)` for each row of the result's box along the attribute `dim`, with
/// positions in the row-major memory of the box. The dimension is whole on this rank.
template <class F>
void for_each_row(const ReferenceCall& call, F f) {
  const Placement& out = *call.out[0];
  const size_t dim = dim_attribute(call, out.global.size());
  if (out.box.empty()) return;
  const BoxIndexer at(out.box);
  const Extents strides = strides_of(out.local());
  Box heads = out.box;
  heads.hi[dim] = heads.lo[dim] + 1;
  for_each_index(heads, [&](const std::vector<int64_t>& index) {
    f(at.offset(index), strides[dim], out.local()[dim]);
  });
}

}  // namespace hostir::cpu
