// Where one rank's part of a value lies: bound to numbers, for one run.
#pragma once

#include <vector>

#include "hostir/ir/dtype.h"
#include "hostir/ir/sharding.h"

namespace hostir {

/// One value on one rank: its global shape and the part held here.
struct Placement {
  DType dtype = DType::kF32;
  Extents global;
  Box box;
  /// Blocks of a packed buffer in storage order (see ShardType::blocks); empty: row-major over
  /// `box`.
  std::vector<Box> blocks;

  Extents local() const { return box.extents(); }
  int64_t local_bytes() const { return box.volume() * size_bytes(dtype); }
  /// True if no block repeats an element of the box and none is missing; also without blocks. A
  /// buffer where this fails has memory for its box and blocks that reach beyond it.
  bool blocks_fill_box() const;
  friend bool operator==(const Placement&, const Placement&) = default;
};

}  // namespace hostir
