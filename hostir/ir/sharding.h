// Shardings: which rank holds which part of a tensor.
//
// The notation is Shardy's: a list of mesh axes per dimension, major to minor, and the axes over
// which the value is still to be reduced. A value is replicated along all other axes. Open
// dimensions, priorities and pinned axes only guide sharding propagation. Sizes need not divide
// evenly: cutting n into k parts gives part r the range [min(n, r*c), min(n, (r+1)*c)) with c =
// ceil(n/k). Axes cut one after another, major to minor. Empty boxes are normal. Decisions about
// shardings therefore compare boxes and never test divisibility alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hostir/ir/dtype.h"
#include "hostir/ir/index_expr.h"
#include "hostir/ir/mesh.h"

namespace hostir {

struct DimSharding {
  std::vector<AxisRef> axes;
  bool open = false;  // `?`: sharding propagation may add axes
  int priority = 0;   // `p1`: propagates after all dimensions of lower numbers
  // `by 8 from -3`: part r ends where part r+1 begins, at origin + (r+1) * block, and the first and
  // the last part reach to the ends of the dimension. A negative block puts the parts in opposite
  // order. 0: parts of ceil(n/k). Slices and concats of cut dimensions are cut like this.
  int64_t block = 0;
  int64_t origin = 0;
  // `of 16`: runs of 16 elements, counted from 0, stay together: the axes cut their number. Columns
  // of several heads are cut like this, at the borders of heads.
  int64_t unit = 1;
  // `turned 1`: each position along the axes has the part of the position before it, and the first
  // that of the last. The operand of a roll is cut like this.
  int64_t turn = 0;

  bool cuts_alike(const DimSharding& other) const {
    return block == other.block && origin == other.origin && unit == other.unit &&
           turn == other.turn;
  }
  /// True for parts other than ceil(n/k) elements, or in another order.
  bool has_blocks() const { return block != 0 || unit != 1 || turn != 0; }
  /// True if parts do not nest in those of fewer axes.
  bool is_placed() const { return block != 0 || turn != 0; }
  /// Leaves the usual parts.
  void clear_blocks() {
    block = origin = turn = 0;
    unit = 1;
  }
  friend bool operator==(const DimSharding&, const DimSharding&) = default;
};

struct Sharding {
  std::string mesh;  // name without '@'
  std::vector<DimSharding> dims;
  std::vector<AxisRef> unreduced;
  Reduction unreduced_kind = Reduction::kSum;
  SourceSpan span;
  std::vector<AxisRef> pinned = {};  // `replicated={tp}`: propagation may not use these axes

  static Sharding replicated(std::string mesh, size_t rank);
  bool is_fully_replicated() const;
  bool is_partial() const { return !unreduced.empty(); }
  /// `<@m, [{dp}, {}], unreduced={tp}>`
  std::string to_string() const;
  /// `[{dp}, {}], unreduced={tp}`, the form inside `shard<...>`.
  std::string dims_to_string() const;
  /// The PyTorch form: `S(0)@dp, P(sum)@tp`; `R` if fully replicated.
  std::string to_pytorch() const;

  friend bool operator==(const Sharding&, const Sharding&) = default;
};

/// A half-open box in global index space. A box with no dimensions has one element.
struct Box {
  std::vector<int64_t> lo;
  std::vector<int64_t> hi;

  static Box whole(const Extents& extents);
  Extents extents() const;
  int64_t volume() const;
  bool empty() const { return volume() == 0; }
  bool contains(const Box& other) const;  // every box contains an empty box
  /// False also for an index with another number of dimensions.
  bool holds(const std::vector<int64_t>& index) const;
  Box intersect(const Box& other) const;
  /// The global index of element `place` of the box, counted in row-major order.
  std::vector<int64_t> index_at(int64_t place) const;
  friend bool operator==(const Box&, const Box&) = default;
};

/// A half-open range of indices.
struct Range {
  int64_t lo = 0;
  int64_t hi = 0;
  friend bool operator==(const Range&, const Range&) = default;
};
/// Part `part` of `range` cut into `parts` parts of ceil(n/parts) indices; the last parts may be
/// shorter or empty.
Range cut(Range range, int64_t parts, int64_t part);

/// The number of runs of `unit` elements in a dimension of size `size`.
inline int64_t units_in(int64_t size, int64_t unit) {
  return size <= 0 ? 0 : (size - 1) / unit + 1;
}
/// A range of runs of `unit` elements, as elements of a dimension of size `size`.
Range elements_of(Range units, int64_t unit, int64_t size);

/// The part of a dimension of size `size` that a mesh position has.
Range part_of(const Mesh& mesh, const DimSharding& dim, int64_t size, int64_t position);
/// All parts of a dimension, in the order of the coordinates along its axes.
std::vector<Range> parts_of(const Mesh& mesh, const DimSharding& dim, int64_t size);
/// Part `part` of `parts`, as `dim.block` (not 0) and `dim.origin` say.
Range block_of(const DimSharding& dim, int64_t size, int64_t parts, int64_t part);

/// The box of a mesh position. Every axis of the sharding must exist in the mesh, and
/// `sharding.dims.size()` must equal `extents.size()`; the verifier checks both (`sharding_c*`).
Box shard_box(const Mesh& mesh, const Sharding& sharding, const Extents& extents, int64_t position);

/// The boxes of all mesh positions, in order.
std::vector<Box> shard_boxes(const Mesh& mesh, const Sharding& sharding, const Extents& extents);

/// True if the position has coordinate 0 along every unreduced axis. Such a position keeps its
/// elements when a replicated value becomes partial.
bool is_partial_root(const Mesh& mesh, const Sharding& sharding, int64_t position);

}  // namespace hostir
