// Shardings: who holds what of a tensor.
//
// Shardy's notation: per dimension a list of mesh axes, major to minor, plus the axes over which
// the value is still to be reduced. Axes not named are replicated. Boxes, not divisibility, decide
// everything (LANGUAGE section 2): one cut of n over k gives part r the range
// [min(n, r*c), min(n, (r+1)*c)) with c = ceil(n/k); axes cut one after another, major to minor.
// Empty boxes are normal.
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
  bool open = false;  // `?`: propagation may add axes
  friend bool operator==(const DimSharding&, const DimSharding&) = default;
};

struct Sharding {
  std::string mesh;  // name without '@'
  std::vector<DimSharding> dims;
  std::vector<AxisRef> unreduced;
  Reduction unreduced_kind = Reduction::kSum;
  SourceSpan span;

  static Sharding replicated(std::string mesh, size_t rank);
  bool is_fully_replicated() const;
  bool is_partial() const { return !unreduced.empty(); }
  /// `<@m, [{dp}, {}], unreduced={tp}>`
  std::string to_string() const;
  /// `[{dp}, {}], unreduced={tp}`, as inside `shard<...>`.
  std::string dims_to_string() const;
  /// PyTorch's spelling beside it: `S(0)@dp, P(sum)@tp`; `R` where nothing is cut.
  std::string to_pytorch() const;

  friend bool operator==(const Sharding&, const Sharding&) = default;
};

/// A half-open box in global index space. Rank 0 boxes hold one element.
struct Box {
  std::vector<int64_t> lo;
  std::vector<int64_t> hi;

  static Box whole(const Extents& extents);
  Extents extents() const;
  int64_t volume() const;
  bool empty() const { return volume() == 0; }
  bool contains(const Box& other) const;  // an empty box is contained in every box
  Box intersect(const Box& other) const;
  /// The global index of the element that is at `place` of the box, in row-major order.
  std::vector<int64_t> index_at(int64_t place) const;
  friend bool operator==(const Box&, const Box&) = default;
};

/// Part `part` of `parts` of the range [lo, hi): c = ceil(n/parts).
struct Range {
  int64_t lo = 0;
  int64_t hi = 0;
  friend bool operator==(const Range&, const Range&) = default;
};
Range cut(Range range, int64_t parts, int64_t part);

/// The box of a mesh position. Every axis of the sharding must exist in the mesh, and
/// `sharding.dims.size() == extents.size()`; the verifier checks both (`sharding_c*`).
Box shard_box(const Mesh& mesh, const Sharding& sharding, const Extents& extents, int64_t position);

/// Boxes of all positions of the mesh in order.
std::vector<Box> shard_boxes(const Mesh& mesh, const Sharding& sharding, const Extents& extents);

/// Coordinate 0 along every unreduced axis: the position that keeps the value when a replicated
/// value becomes partial.
bool is_partial_root(const Mesh& mesh, const Sharding& sharding, int64_t position);

}  // namespace hostir
