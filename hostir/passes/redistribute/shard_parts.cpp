#include "hostir/passes/redistribute/shard_parts.h"

#include <algorithm>

namespace hostir {

ShardParts::ShardParts(const Mesh& mesh, const Sharding& sharding, const Extents& extents) {
  dims_.resize(extents.size());
  for (size_t d = 0; d < extents.size(); ++d) {
    Dim& dim = dims_[d];
    dim.ranges = {{0, extents[d]}};
    if (d >= sharding.dims.size()) continue;
    for (const AxisRef& axis : merged_axes(mesh, sharding.dims[d].axes))
      dim.digits.emplace_back(mesh, axis);
    dim.ranges = parts_of(mesh, sharding.dims[d], extents[d]);
  }
}

int64_t ShardParts::volume(size_t position) const {
  int64_t volume = 1;
  for (size_t d = 0; d < rank(); ++d) {
    const Range& mine = range(d, position);
    volume *= std::max<int64_t>(0, mine.hi - mine.lo);
  }
  return volume;
}

bool ShardParts::equal(size_t position, const ShardParts& other, size_t at) const {
  for (size_t d = 0; d < rank(); ++d) {
    if (!(range(d, position) == other.range(d, at))) return false;
  }
  return true;
}

bool ShardParts::contains(size_t position, const ShardParts& other, size_t at) const {
  bool inside = true;
  for (size_t d = 0; d < rank(); ++d) {
    const Range& mine = range(d, position);
    const Range& theirs = other.range(d, at);
    if (theirs.hi <= theirs.lo) return true;  // every box contains an empty box
    inside = inside && theirs.lo >= mine.lo && theirs.hi <= mine.hi;
  }
  return inside;
}

int64_t ShardParts::shared_volume(size_t position, const ShardParts& other, size_t at) const {
  int64_t volume = 1;
  for (size_t d = 0; d < rank() && volume != 0; ++d) {
    const Range& mine = range(d, position);
    const Range& theirs = other.range(d, at);
    volume *= std::max<int64_t>(0, std::min(mine.hi, theirs.hi) - std::max(mine.lo, theirs.lo));
  }
  return volume;
}

}  // namespace hostir
