// The part of a value that one rank holds, with all sizes bound for one run.
#pragma once

#include <vector>

#include "hostir/ir/dtype.h"
#include "hostir/ir/sharding.h"

namespace hostir {

/// One value on one rank: its global shape and the part this rank holds.
struct Placement {
  DType dtype = DType::kF32;
  Extents global;
  Box box;
  /// Blocks of a packed buffer in storage order (see ShardType::blocks). If empty, the buffer is
  /// row-major over `box`.
  std::vector<Box> blocks;

  /// The contiguous parts of the buffer in storage order, each row-major over its box.
  std::vector<Box> runs() const;

  Extents local() const { return box.extents(); }
  int64_t local_bytes() const { return box.volume() * size_bytes(dtype); }
  /// True if the blocks cover each element of the box exactly once, or there are no blocks. Callers
  /// reject any other buffer (`code_blocks`): its blocks would not fit in the memory of the box.
  bool blocks_fill_box() const;
  friend bool operator==(const Placement&, const Placement&) = default;
};

}  // namespace hostir
