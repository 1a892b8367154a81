#include "interp/session/values/value_query.h"

#include <fmt/core.h>

namespace hostir::interp {

Expected<Box> slice_box(const std::vector<SliceRange>& slice, const Extents& global) {
  if (slice.size() > global.size()) {
    return fail(
        ErrorKind::kUsage, "slice_rank",
        fmt::format("{} indices for a value of {} dimensions", slice.size(), global.size()));
  }
  Box box = Box::whole(global);
  for (size_t d = 0; d < slice.size(); ++d) {
    box.lo[d] = slice[d].lo;
    if (slice[d].hi >= 0) box.hi[d] = slice[d].hi;
    if (box.lo[d] <= box.hi[d] && box.hi[d] <= global[d]) continue;
    return fail(ErrorKind::kUsage, "slice_range",
                fmt::format("{}:{} is outside of dimension {}, which has {} elements", box.lo[d],
                            box.hi[d], d, global[d]));
  }
  return box;
}

}  // namespace hostir::interp
