// Helpers for resolving a communication instruction; used only by communication.cpp and
// exchange_counts.cpp.
#pragma once

#include <vector>

#include "hostir/ir/placement.h"
#include "interp/core/engine/communication.h"

namespace hostir::interp {

/// Elements per index of dimension 0.
inline int64_t row_elems(const Placement& p) {
  const Extents local = p.local();
  int64_t row = 1;
  for (size_t d = 1; d < local.size(); ++d) row *= local[d];
  return row;
}

/// Block sizes of `total` elements split over the members by ceil(n/k), in whole rows of `row`
/// elements.
inline std::vector<int64_t> cut_counts(int64_t total, int64_t row, size_t members) {
  std::vector<int64_t> counts;
  const int64_t rows = row > 0 ? total / row : 0;
  for (size_t p = 0; p < members; ++p) {
    const Range part = cut({0, rows}, static_cast<int64_t>(members), static_cast<int64_t>(p));
    counts.push_back((part.hi - part.lo) * row);
  }
  return counts;
}

}  // namespace hostir::interp
