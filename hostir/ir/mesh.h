// Device meshes.
//
// A mesh is a list of named axes over ranks. Positions are numbered row-major, with the last axis
// fastest; `device_ids` maps positions to ranks (identity if empty). A sub-mesh `@s0 = @w[pp=0]`
// keeps its parent and fixed coordinates for printing; its axes and device_ids are resolved when
// it is created. Groups follow Shardy: the listed axes vary fastest, in listed order; the other
// axes vary slowest, in mesh order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/support/diagnostic.h"

namespace hostir {

struct MeshAxis {
  std::string name;
  int64_t size = 1;
  friend bool operator==(const MeshAxis&, const MeshAxis&) = default;
};

/// A mesh axis or part of one: `tp`, or the sub-axis `tp:(pre)size`, where `pre` is the product of
/// the sizes of the sub-axes major to it.
struct AxisRef {
  std::string name;
  int64_t pre = 1;
  int64_t size = 0;  // 0: the whole axis
  bool whole() const { return size == 0; }
  std::string to_string() const;
  friend bool operator==(const AxisRef&, const AxisRef&) = default;
};

struct FixedCoord {
  std::string axis;
  int64_t position = 0;
  friend bool operator==(const FixedCoord&, const FixedCoord&) = default;
};

struct Mesh {
  /// The id of a task of a run holds its rank in 24 bits (interp/model/ids.h).
  static constexpr int64_t kMaxPositions = 16777216;
  std::string name;
  std::vector<MeshAxis> axes;
  std::vector<int64_t> device_ids;         // empty: position == rank
  std::string parent;                      // sub-mesh only; else empty
  std::vector<FixedCoord> fixed;           // sub-mesh only
  std::vector<std::string> documentation;  // `//!` lines without the marker
  SourceSpan span;

  /// Number of positions; 1 for a mesh without axes.
  int64_t size() const;
  int64_t rank_at(int64_t position) const;
  /// The position of a rank; nullopt if the rank is not in the mesh.
  std::optional<int64_t> position_of(int64_t rank) const;
  std::optional<size_t> axis_index(std::string_view axis) const;
  /// The coordinate of a position along an axis (which must exist).
  int64_t coord(int64_t position, size_t axis) const;
  /// Size of the sub-axis or of the whole axis. The axis must exist.
  int64_t axis_size(const AxisRef& axis) const;
  /// Coordinate of a position along an axis reference.
  int64_t coord(int64_t position, const AxisRef& axis) const;
  /// All ranks, by position.
  std::vector<int64_t> ranks() const;

  friend bool operator==(const Mesh&, const Mesh&) = default;
};

/// Fills in axes and device_ids of a sub-mesh from its parent and fixed coordinates, which must be
/// valid.
void resolve_sub_mesh(const Mesh& parent, Mesh& sub);

/// The groups of *ranks* that communicate over `axes`; each group follows the order of `axes`.
/// The axes must exist in the mesh.
std::vector<std::vector<int64_t>> groups_over(const Mesh& mesh, const std::vector<AxisRef>& axes);

/// Merges adjacent sub-axes of one axis: `tp:(1)2, tp:(2)2` of tp=4 becomes `tp`.
std::vector<AxisRef> merged_axes(const Mesh& mesh, const std::vector<AxisRef>& axes);

}  // namespace hostir
