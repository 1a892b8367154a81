// The boxes of all mesh positions under a sharding, for checks that compare them.
//
// Per dimension there is one range per part, and a position's part follows from its coordinates.
// Memory is needed for the parts, not for the positions, and nothing is allocated per position:
// planning a redistribution compares the boxes of 1,024 ranks thousands of times. shard_boxes()
// makes the same boxes one by one.
#pragma once

#include <vector>

#include "hostir/ir/axes.h"
#include "hostir/ir/mesh.h"
#include "hostir/ir/sharding.h"

namespace hostir {

class ShardParts {
 public:
  /// `sharding` has one entry per extent, as for shard_box().
  ShardParts(const Mesh& mesh, const Sharding& sharding, const Extents& extents);

  size_t rank() const { return dims_.size(); }
  /// The ranges of all parts of a dimension.
  const std::vector<Range>& ranges(size_t dim) const { return dims_[dim].ranges; }
  /// The index of a position's part in ranges(dim).
  size_t part(size_t dim, size_t position) const {
    int64_t index = 0;
    for (const AxisDigit& digit : dims_[dim].digits)
      index = index * digit.size + digit.of(static_cast<int64_t>(position));
    return static_cast<size_t>(index);
  }
  const Range& range(size_t dim, size_t position) const {
    return dims_[dim].ranges[part(dim, position)];
  }

  // Like the functions of Box, for the box of a position.
  int64_t volume(size_t position) const;
  bool equal(size_t position, const ShardParts& other, size_t at) const;
  bool contains(size_t position, const ShardParts& other, size_t at) const;
  int64_t shared_volume(size_t position, const ShardParts& other, size_t at) const;

 private:
  struct Dim {
    std::vector<AxisDigit> digits;  // major to minor
    std::vector<Range> ranges;
  };
  std::vector<Dim> dims_;
};

}  // namespace hostir
